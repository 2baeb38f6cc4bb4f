#include "runtime/tuning/store/record_json.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/json_limits.hpp"
#include "runtime/tuning/store/record_fields.hpp"

namespace jitgemm::tuning {

template <TuningRecord T>
void to_json(Json& json, const T& record) {
    json = json_of(record);
}

template <TuningRecord T>
void from_json(const Json& json, T& record) {
    read_json(json, "", record);
}

template void to_json(Json&, const Versions&);
template void to_json(Json&, const DeviceFacts&);
template void to_json(Json&, const CompileOutcome&);
template void to_json(Json&, const VerifyOutcome&);
template void to_json(Json&, const DeviceReading&);
template void to_json(Json&, const Sample&);
template void to_json(Json&, const Trial&);
template void to_json(Json&, const Winner&);
template void from_json(const Json&, Versions&);
template void from_json(const Json&, DeviceFacts&);
template void from_json(const Json&, CompileOutcome&);
template void from_json(const Json&, VerifyOutcome&);
template void from_json(const Json&, DeviceReading&);
template void from_json(const Json&, Sample&);
template void from_json(const Json&, Trial&);
template void from_json(const Json&, Winner&);

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json parse_json(std::string_view text) {
    check_json_limits(text);
    try {
        return Json::parse(text);
    } catch (const Json::exception& error) {
        throw Error(error.what());
    }
}

}  // namespace jitgemm::tuning
