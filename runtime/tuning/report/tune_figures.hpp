#pragma once

#include "runtime/tuning/store/store.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// \file The numbers of a sweep's report.

namespace jitgemm::tuning {

/// A candidate that was timed.
struct TimedCandidate {
    std::string kernel;
    double predicted_us = 0;
    double us = 0;        ///< median, as if all rounds had run at one clock
    double relative = 1;  ///< over the best time of its problem
};

struct ProblemFigures {
    GemmSpec spec;
    std::string kernel;       ///< the winner's; empty if nothing was timed
    double best_us = 0;       ///< 0: nothing was timed
    double heuristic_us = 0;  ///< 0: not measured
    double cublaslt_us = 0;   ///< 0: not measured
    bool complete = false;
    std::size_t tried = 0;
    std::size_t failed = 0;
    std::vector<TimedCandidate> timed;  ///< fastest first
    std::string untimed_reason;         ///< why there is no time; empty if there is one

    /// The winner's speed over it; unset if one of the two times is unknown.
    [[nodiscard]] std::optional<double> over_heuristic() const;
    [[nodiscard]] std::optional<double> over_cublaslt() const;
};
[[nodiscard]] ProblemFigures figures_of(const ProblemRecord& problem);

/// A range of speed-ups, and the number of problems in it.
struct SpeedupBin {
    double least = 0;
    double most = 0;  ///< infinite for the last one
    std::size_t problems = 0;
};
using Speedup = std::optional<double> (ProblemFigures::*)() const;
/// The spread of the speed-ups, in steps that are fine around 1; from the first bin with a problem to the last one.
[[nodiscard]] std::vector<SpeedupBin> speedup_bins(const std::vector<ProblemFigures>& problems, Speedup speedup);

/// Those with the lowest speed-up, the worst first, at most `count`.
[[nodiscard]] std::vector<ProblemFigures> worst(const std::vector<ProblemFigures>& problems, Speedup speedup,
                                                std::size_t count);

/// The cost of one value of a parameter: the best and the median time with it, relative to the best of each problem.
/// Both are geometric means over the problems in which it was timed.
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
    /// The spread of the best times: the least effect of the choice of the value.
    [[nodiscard]] double importance() const;
};
/// Parameters with at least two timed values, the most important first. Kernels whose names this version does not know
/// are left out.
[[nodiscard]] std::vector<ParameterEffect> parameter_effects(const std::vector<ProblemFigures>& problems);

/// Trials with the same failure: the verdict and the first line of its message.
struct FailureGroup {
    Verdict verdict = Verdict::fine;
    std::string reason;
    std::size_t count = 0;
    std::string example;  ///< a kernel
};
/// The most frequent first.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const std::vector<ProblemRecord>& problems);

/// The device's readings during the rounds, in order, each once.
[[nodiscard]] std::vector<DeviceReading> reading_sequence(const std::vector<ProblemRecord>& problems);

}  // namespace jitgemm::tuning
