#pragma once

#include "runtime/tuning/store/device_facts.hpp"
#include "runtime/tuning/store/records.hpp"

#include <nlohmann/json_fwd.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace jitgemm::tuning {

/// Keeps its fields in the order of their insertion.
using Json = nlohmann::ordered_json;

/// The structs with a JSON form: an object with their fields' names. Specs, verdicts and protocols are words, unset
/// values are null, and a GpuModel's `arch` is its name.
template <typename T>
concept TuningRecord = std::same_as<T, Versions> || std::same_as<T, DeviceFacts> || std::same_as<T, CompileOutcome> ||
    std::same_as<T, VerifyOutcome> || std::same_as<T, DeviceReading> || std::same_as<T, Sample> ||
    std::same_as<T, Trial> || std::same_as<T, Winner>;

/// nlohmann's functions: `Json json = trial;` and `json.get<Trial>()`.
template <TuningRecord T>
void to_json(Json& json, const T& record);
/// Throws Error with the field that is missing or wrong ("samples[3].before.power_watts is ..."). Unknown fields are
/// ignored.
template <TuningRecord T>
void from_json(const Json& json, T& record);

/// One line, without a newline at its end. Compilers quote source lines, so bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_line(const Json& json);
/// Throws Error with the flaw and its place.
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace jitgemm::tuning
