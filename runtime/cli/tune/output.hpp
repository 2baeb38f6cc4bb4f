#pragma once

#include "runtime/cli/output.hpp"
#include "runtime/tuning/sweep/sweep.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// The output of `tune` while it works. A terminal gets a progress line on stderr. With --json, stderr gets a JSON line
/// every second and after every problem. For people, stdout gets a line per problem in the order of the request: a
/// problem that ends early waits for those before it.
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
        std::size_t next = 0;                        ///< the problem whose line comes next
        std::map<std::size_t, std::string> waiting;  ///< by problem
    };
    [[nodiscard]] bool due();

    Output& output_;
    std::vector<GemmSpec> problems_;
    bool quiet_;
    std::map<std::string, Lines> lines_;  // by class
    Clock::time_point last_{};
};

/// ", search not finished, narrowed to family=simt_naive, cold": the reasons why the winner does not serve every
/// request; empty if it does.
[[nodiscard]] std::string how_searched(const tuning::Winner& winner);
/// "[3/20] bf16 tn 64 6144 4096  12.1 us  ...", or the reason why there is no winner.
[[nodiscard]] std::string tune_line(const tuning::TunedProblem& problem);
/// Geometric means over the heuristic and over cuBLASLt, the time spent, and the unfinished parts.
[[nodiscard]] std::string tune_summary(const tuning::SweepResult& result, std::size_t devices);
/// The document that --json prints.
[[nodiscard]] Json tune_document(const tuning::SweepResult& result, const std::string& store, std::size_t devices);

}  // namespace jitgemm::cli
