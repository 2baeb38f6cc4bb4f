#include "runtime/tuning/store/tuned_set.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace jitgemm::tuning {
namespace {

constexpr std::string_view kTunedSetFormat = "tuned-kernel-set-v1";

}  // namespace

Json json_of(const TunedSet& tuned) {
    return {{"format", kTunedSetFormat},
            {"device_class", tuned.device_class},
            {"versions", tuned.versions},
            {"narrowed", tuned.narrowed},
            {"set", parse_json(to_json(tuned.set))}};
}

bool is_tuned_set(const Json& json) { return json.is_object() && json.contains("set"); }

TunedSet tuned_set_of(const Json& json) {
    const auto format = json.value("format", std::string());
    if (format != kTunedSetFormat)
        throw Error(fmt::format("its format is '{}', this version reads {}", format, kTunedSetFormat));
    return {json.at("device_class"), json.at("versions").get<Versions>(), json.at("narrowed"),
            parse_kernel_set(json.at("set").dump())};
}

bool is_stale(const TunedSet& tuned, const Versions& today) {
    Winner stamp;
    stamp.versions = tuned.versions;
    return is_stale(stamp, today);
}

}  // namespace jitgemm::tuning
