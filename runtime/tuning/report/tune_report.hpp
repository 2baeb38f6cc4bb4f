#pragma once

#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/store.hpp"

#include <string>
#include <vector>

namespace jitgemm::tuning {

/// What a sweep found, ready to be told.
struct TuneReport {
    DeviceFacts device;
    std::vector<ProblemRecord> problems;
};

/// One self-contained page: the best config of each problem, its speed over the heuristic and cuBLASLt, how the
/// candidates lie, prediction against measurement, which parameters matter, what failed and why, and how the device
/// was.
[[nodiscard]] std::string tune_page(const TuneReport& report);

/// Every measurement: a row per sample, and a row with empty `round` and `us` for a trial that has none. Columns are
/// named in the first line and documented in docs/tuning-search.md; RFC 4180.
[[nodiscard]] std::string tune_csv(const TuneReport& report);

/// The same as one document, with winners and compile logs: "device", "device_class" and "problems", each of "spec",
/// "trials" and "winner" as the records' own JSON has them.
[[nodiscard]] Json tune_json(const TuneReport& report);

}  // namespace jitgemm::tuning
