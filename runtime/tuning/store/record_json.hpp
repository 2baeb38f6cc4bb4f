#pragma once

#include "runtime/tuning/store/device_facts.hpp"
#include "runtime/tuning/store/records.hpp"

#include <nlohmann/json_fwd.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace jitgemm::tuning {

/// Keeps its fields in the order they were written.
using Json = nlohmann::ordered_json;

/// The structs that have a JSON form: an object with their fields' names; specs, verdicts and protocols are words,
/// optional values null when unset, a GpuModel's `arch` its name.
template <typename T>
concept TuningRecord = std::same_as<T, Versions> || std::same_as<T, DeviceFacts> || std::same_as<T, CompileOutcome> ||
    std::same_as<T, VerifyOutcome> || std::same_as<T, DeviceReading> || std::same_as<T, Sample> ||
    std::same_as<T, Trial> || std::same_as<T, Winner>;

/// nlohmann's own pair: `Json json = trial;` and `json.get<Trial>()`.
template <TuningRecord T>
void to_json(Json& json, const T& record);
/// Throws Error naming the field that is missing or not what it should be ("samples[3].before.power_watts is ...").
/// Fields it does not know are ignored.
template <TuningRecord T>
void from_json(const Json& json, T& record);

/// On one line, without a newline at its end. Compilers quote source lines: bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_line(const Json& json);
/// Throws Error saying what is wrong where.
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace jitgemm::tuning
