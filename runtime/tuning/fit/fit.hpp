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
    double us = 0;  ///< median, comparable with the problem's others
};

/// The timed candidates of a sweep.
[[nodiscard]] std::vector<FitPoint> fit_points(const std::vector<ProblemRecord>& problems);

/// The distance between predictions and measurements.
struct FitError {
    double ratio = 1;         ///< geometric mean of predicted over measured
    double rms_log = 0;       ///< of the logarithm of that ratio, with the fit's weights
    double regret = 1;        ///< measured time of the model's choice over the best's: geometric mean over problems
    double worst_regret = 1;  ///< the largest of them
    int hits = 0;             ///< problems whose best kernel the model chose
    int problems = 0;
};

struct FitOptions {
    /// How far a prediction may be off (logarithm) for all that a fit can do. A smaller doubt fits the kernels of one
    /// sweep better, and the kernels worse that another model would have timed.
    double doubt = 2;
    double freedom = 0.7;    ///< sensible change (logarithm) of a constant; a larger one needs evidence
    double most_change = 8;  ///< a constant stays within this factor of its start
    int folds = 4;           ///< of the held-out check
    int splits = 5;          ///< into folds, each at random; a fit must choose better in all of them
    int iterations = 60;
};

/// A split of the problems into folds, and constants of each fold that are fitted to the problems of the others.
struct FitSplit {
    std::vector<std::size_t> fold_of;  ///< of each problem
    std::vector<CostConstants> constants;

    [[nodiscard]] const CostConstants& of(std::size_t problem) const { return constants[fold_of[problem]]; }
};

struct FitResult {
    CostConstants start;
    CostConstants constants;
    FitError before;
    FitError after;
    /// The error if each problem is predicted by constants fitted to the problems of the other folds, in the first
    /// split. It is the expected error for problems that were not measured. Unset with fewer than two problems.
    std::optional<FitError> held_out;
    std::vector<FitSplit> splits;  ///< up to the first that does not choose better
    std::size_t points = 0;
    std::size_t left_out = 0;  ///< of another family or version, or without a time
};

/// The quality of the kernels that predictions choose among all timed kernels of all families: measured time of the
/// choice over that of the best.
struct ChoiceRegret {
    double mean = 1;   ///< geometric, over problems and splits
    double worst = 1;  ///< of any split
};

/// One family's part in the fit of a table.
struct FamilyFit {
    const Family* family = nullptr;
    FitResult result;
    ChoiceRegret before;  ///< with the family's constants from the table
    /// With those fitted to other problems than the one that is chosen for; not taken: in the split that refused them.
    ChoiceRegret held_out;
    bool is_taken = false;  ///< in every split, the choice gets better on problems that the fit has not seen
};

/// The fit of all families for one GPU.
struct TableFit {
    std::vector<FamilyFit> families;  ///< those with timed kernels
    std::size_t problems = 0;
    ChoiceRegret before;
    ChoiceRegret held_out;  ///< with the constants that are taken
};

/// Fits the constants of the family's cost model for a GPU to measurements. It minimizes the squared logarithm of
/// predicted over measured (Levenberg-Marquardt, Marquardt 1963). Every problem has equal weight, and fast kernels have
/// more weight within it. If the data say little about a constant, it stays near its start, which is the table's value
/// for the GPU. Throws Error if no point is left to fit.
[[nodiscard]] FitResult fit_cost_constants(const Family& family, const std::vector<FitPoint>& points,
                                           const GpuModel& gpu, const FitOptions& options = {});

/// Fits each family in turn. Its constants are only taken if they choose better kernels for problems that the fit has
/// not seen, in every split (choice regret; the error of times does not count). `family` unset means all families.
/// Throws ConfigError for an unknown family, and Error if no point is left to fit or the family has no constants.
[[nodiscard]] TableFit fit_cost_table(const std::vector<FitPoint>& points, const GpuModel& gpu,
                                      const std::optional<std::string>& family = {}, const FitOptions& options = {});

/// A file for cost/: the GPU's table with the constants that are taken. Throws SpecError for a GPU that the GPU table
/// lacks.
[[nodiscard]] std::string table_text(const TableFit& fit, const GpuModel& gpu);

/// The fit of a table for people: choices before and after, and each family's new constants.
[[nodiscard]] std::string fit_text(const TableFit& fit, const GpuModel& gpu);
/// The fit of a family for people: errors before, after and held out, and each constant.
[[nodiscard]] std::string fit_text(const FitResult& result, const GpuModel& gpu);

}  // namespace jitgemm::tuning
