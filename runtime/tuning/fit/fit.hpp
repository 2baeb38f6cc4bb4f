#pragma once

#include "generator/families/family.hpp"
#include "runtime/tuning/store/store.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// A kernel's measured time, for a fit.
struct FitPoint {
    GemmSpec spec;  ///< resolved
    std::string kernel;
    double us = 0;  ///< median
};

/// The timed candidates of a sweep.
[[nodiscard]] std::vector<FitPoint> fit_points(const std::vector<ProblemRecord>& problems);

/// How well predictions fit measurements.
struct FitError {
    double ratio = 1;         ///< geometric mean of predicted over measured
    double rms_log = 0;       ///< of the logarithm of that, weighted as the fit weighs it
    double regret = 1;        ///< measured time of the model's choice over the best's: geometric mean over problems
    double worst_regret = 1;  ///< the largest of them
    int hits = 0;             ///< problems whose best the model chose
    int problems = 0;
};

struct FitOptions {
    double doubt = 0.1;      ///< how far a prediction may be off (logarithm) for all that a fit can do
    double freedom = 0.7;    ///< how far a constant may sensibly move (logarithm); beyond, it takes evidence
    double most_change = 8;  ///< a constant stays within this factor of where it began
    int folds = 4;           ///< of the held-out check
    int iterations = 60;
};

struct FitResult {
    CostConstants start;
    CostConstants constants;
    FitError before;
    FitError after;
    /// Each problem predicted by constants fitted to the problems of the other folds: what to expect of problems that were
    /// not measured. Unset with fewer than two problems.
    std::optional<FitError> held_out;
    std::size_t points = 0;
    std::size_t left_out = 0;  ///< of another family or version, or no time
};

/// The family of that name; without one the first of the table whose cost model has constants to fit. Throws ConfigError for a name
/// that no family has, Error for a family that has none.
[[nodiscard]] const Family& family_to_fit(const std::optional<std::string>& name);

/// Fits the constants of the family's cost model for a GPU to measurements: least squares of the logarithm of
/// predicted over measured (Levenberg-Marquardt, Marquardt 1963), every problem of equal weight and within it the fast
/// kernels of more, held to the start where the data say little. Starts at the table's constants for the GPU.
/// Throws Error when no point is left to fit.
[[nodiscard]] FitResult fit_cost_constants(const Family& family, const std::vector<FitPoint>& points,
                                           const GpuModel& gpu, const FitOptions& options = {});

/// The row of the family's table of constants, ready to be pasted, its error in a comment.
[[nodiscard]] std::string fitted_row(const FitResult& result, const GpuModel& gpu);

/// What the fit did, for people: errors before and after, held out, and each constant.
[[nodiscard]] std::string fit_text(const FitResult& result, const GpuModel& gpu);

}  // namespace jitgemm::tuning
