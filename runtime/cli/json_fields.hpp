#pragma once

#include "generator/base/arch.hpp"
#include "generator/families/family.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/device/entry_json.hpp"
#include "runtime/support/spec_json.hpp"
#include "runtime/tuning/store/lookup.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace jitgemm::cli {

[[nodiscard]] Json to_json(const GpuModel& gpu);
[[nodiscard]] Json to_json(const CostEstimate& cost);
using jitgemm::to_json;  // of a GemmSpec, a KernelEntry
/// Whether the choice was exact, nearest, heuristic or forced, and why; for a near problem also that problem and its
/// distance.
[[nodiscard]] Json to_json(const tuning::TunedChoice& choice);

/// An array of the results of `convert` for all values.
template <typename Values, typename Convert>
[[nodiscard]] Json json_array(const Values& values, Convert convert) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(convert(value));
    return array;
}

template <typename Value>
[[nodiscard]] Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}

/// "bf16" if A and B have one type, else "e4m3*e5m2".
[[nodiscard]] std::string type_name(const GemmSpec& spec);
/// "bf16 tn 4096 4096 4096".
[[nodiscard]] std::string shape_text(const GemmSpec& spec);
/// TFLOP/s of a time in microseconds; 0 if nothing was computed or timed.
[[nodiscard]] double tflops(const GemmSpec& spec, double microseconds);

}  // namespace jitgemm::cli
