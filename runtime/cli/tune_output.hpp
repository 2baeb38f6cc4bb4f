#pragma once

#include "runtime/cli/output.hpp"
#include "runtime/tuning/sweep.hpp"

#include <chrono>
#include <string>

namespace jitgemm::cli {

/// What `tune` shows while it works: a progress line where stderr is a terminal; with --json a JSON line on stderr every
/// second and for every problem; and a line for people on stdout for each problem.
class TuneWatcher {
public:
    TuneWatcher(Output& output, std::vector<GemmSpec> problems, bool quiet);
    void progress(const tuning::SweepProgress& progress);
    void problem(const tuning::TunedProblem& problem);

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] bool due();

    Output& output_;
    std::vector<GemmSpec> problems_;
    bool quiet_;
    std::size_t done_ = 0;
    Clock::time_point last_{};
};

/// "[3/20] bf16 tn 64 6144 4096  12.1 us  ..." and why there is no winner where there is none.
[[nodiscard]] std::string tune_line(const tuning::TunedProblem& problem);
/// Geometric means over the heuristic and cuBLASLt, time spent, what is incomplete.
[[nodiscard]] std::string tune_summary(const tuning::SweepResult& result, std::size_t devices);
/// The document that --json prints.
[[nodiscard]] Json tune_document(const tuning::SweepResult& result, const std::string& store, std::size_t devices);

}  // namespace jitgemm::cli
