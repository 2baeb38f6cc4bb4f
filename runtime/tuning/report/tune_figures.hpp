#pragma once

#include "runtime/tuning/store/store.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// \file The figures of a sweep's report, before they are drawn.

namespace jitgemm::tuning {

/// A candidate that was timed.
struct TimedCandidate {
    std::string kernel;
    double predicted_us = 0;
    double us = 0;        ///< median, as if all rounds had run at one clock
    double relative = 1;  ///< to the best of its problem
};

struct ProblemFigures {
    GemmSpec spec;
    std::string kernel;       ///< the winner's; empty where nothing was timed
    double best_us = 0;       ///< 0: nothing was timed
    double heuristic_us = 0;  ///< 0: not measured
    double cublaslt_us = 0;   ///< 0: not measured
    bool complete = false;
    std::size_t tried = 0;
    std::size_t failed = 0;
    std::vector<TimedCandidate> timed;  ///< fastest first
    std::string untimed_reason;         ///< why there is no time; empty where there is one

    /// Times the winner's speed over it; unset where one of the two is unknown.
    [[nodiscard]] std::optional<double> over_heuristic() const;
    [[nodiscard]] std::optional<double> over_cublaslt() const;
};
[[nodiscard]] ProblemFigures figures_of(const ProblemRecord& problem);

/// The range that holds a speed-up, and how many problems lie in it.
struct SpeedupBin {
    double least = 0;
    double most = 0;  ///< infinite for the last one
    std::size_t problems = 0;
};
using Speedup = std::optional<double> (ProblemFigures::*)() const;
/// How the speed-ups are spread, in steps that are fine around 1; from the first bin that holds one to the last.
[[nodiscard]] std::vector<SpeedupBin> speedup_bins(const std::vector<ProblemFigures>& problems, Speedup speedup);

/// Those with the lowest speed-up, the worst first, at most `count`.
[[nodiscard]] std::vector<ProblemFigures> worst(const std::vector<ProblemFigures>& problems, Speedup speedup,
                                                std::size_t count);

/// What one value of a parameter costs, relative to the best of each problem, as geometric means over the problems
/// where it was timed: of the best kernel with it, and of the median one.
struct ValueEffect {
    std::string value;
    double best = 1;
    double median = 1;
    std::size_t problems = 0;
    std::size_t kernels = 0;
};
struct ParameterEffect {
    std::string family;
    std::string parameter;
    std::vector<ValueEffect> values;  ///< numbers rising, then words
    /// Spread of the best: how much the choice of the value matters at least.
    [[nodiscard]] double importance() const;
};
/// Parameters of which at least two values were timed, the most important first. Kernels whose names this version does
/// not know are left out.
[[nodiscard]] std::vector<ParameterEffect> parameter_effects(const std::vector<ProblemFigures>& problems);

/// Trials that failed alike: the verdict and the first line of its message.
struct FailureGroup {
    Verdict verdict = Verdict::fine;
    std::string reason;
    std::size_t count = 0;
    std::string example;  ///< a kernel
};
/// The most frequent first.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const std::vector<ProblemRecord>& problems);

/// How the device was when rounds were taken, in the order they were; each turn once.
[[nodiscard]] std::vector<DeviceReading> reading_sequence(const std::vector<ProblemRecord>& problems);

}  // namespace jitgemm::tuning
