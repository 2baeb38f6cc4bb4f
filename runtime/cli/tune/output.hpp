#pragma once

#include "runtime/cli/output.hpp"
#include "runtime/tuning/sweep/sweep.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// What `tune` shows while it works: a progress line where stderr is a terminal; with --json a JSON line on stderr
/// every second and for every problem, as it ends; and a line for people on stdout for each problem, in the order
/// asked: several are in flight, and one that ends early waits for those before it.
class TuneWatcher {
public:
    TuneWatcher(Output& output, std::vector<GemmSpec> problems, bool quiet);
    ~TuneWatcher();
    TuneWatcher(const TuneWatcher&) = delete;
    TuneWatcher& operator=(const TuneWatcher&) = delete;
    void progress(const tuning::SweepProgress& progress);
    void problem(const tuning::TunedProblem& problem);

private:
    using Clock = std::chrono::steady_clock;
    /// The lines of one class of devices.
    struct Lines {
        std::size_t next = 0;                        ///< problem whose line comes next
        std::map<std::size_t, std::string> waiting;  ///< by problem
    };
    [[nodiscard]] bool due();

    Output& output_;
    std::vector<GemmSpec> problems_;
    bool quiet_;
    std::map<std::string, Lines> lines_;  // by class
    Clock::time_point last_{};
};

/// ", search not finished, narrowed to family=simt_naive, cold": what keeps it from being the choice of every request;
/// empty for one that is.
[[nodiscard]] std::string how_searched(const tuning::Winner& winner);
/// "[3/20] bf16 tn 64 6144 4096  12.1 us  ..." and why there is no winner where there is none.
[[nodiscard]] std::string tune_line(const tuning::TunedProblem& problem);
/// Geometric means over the heuristic and cuBLASLt, time spent, what is incomplete.
[[nodiscard]] std::string tune_summary(const tuning::SweepResult& result, std::size_t devices);
/// The document that --json prints.
[[nodiscard]] Json tune_document(const tuning::SweepResult& result, const std::string& store, std::size_t devices);

}  // namespace jitgemm::cli
