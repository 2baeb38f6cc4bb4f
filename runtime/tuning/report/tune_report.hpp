#pragma once

#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/store.hpp"

#include <string>
#include <vector>

namespace jitgemm::tuning {

/// The results of a sweep for its reports.
struct TuneReport {
    DeviceFacts device;
    std::vector<ProblemRecord> problems;
};

/// One self-contained page: the best config of each problem, its speed over the heuristic and cuBLASLt, all candidates'
/// times, prediction against measurement, the effects of parameters, failures with reasons, and the device's readings.
[[nodiscard]] std::string tune_page(const TuneReport& report);

/// Every measurement: a row per sample, and a row with empty `round` and `us` for a trial without samples. The first
/// line names the columns, and docs/tuning-search.md documents them; RFC 4180.
[[nodiscard]] std::string tune_csv(const TuneReport& report);

/// The same as one document, with winners and compile logs: "device", "device_class" and "problems". Each problem has
/// "spec", "trials" and "winner", in the records' own JSON.
[[nodiscard]] Json tune_json(const TuneReport& report);

}  // namespace jitgemm::tuning
