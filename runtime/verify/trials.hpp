#pragma once

#include "runtime/verify/guarded_problem.hpp"
#include "runtime/verify/verify.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// The operands and the scalars of one launch of a verification.
struct TrialInputs {
    InputKind inputs = InputKind::integers;
    std::uint64_t seed = 1;
    float alpha = 1.0F;
    float beta = 0.0F;
};

/// The allowed cost of a verification beyond its first launch.
struct TrialBudget {
    double launch = 0;   ///< cost of one launch, in any unit
    double scalars = 0;  ///< of all launches with scalars that the caller did not name
    double seeds = 0;    ///< of all launches that few outputs require
};
/// The unit is a step along K of the tiles that one SM checks, one after the other.
[[nodiscard]] TrialBudget gpu_budget(const GemmSpec& spec);

/// The number of seeds that check about 64 outputs, with at most `most` launches beyond the first. The outputs of all
/// problems of a batch count. A missing product may be 0, or vanish when D is rounded: one output says little about a
/// kernel.
[[nodiscard]] std::uint64_t seeds_wanted(const GemmSpec& spec, double most);

/// The launches with small integers:
/// - one with the caller's seed and scalars,
/// - one with alpha = -2 and beta = 0, where C is NaN,
/// - with C, one with alpha = 0.5 and beta = -4,
/// - of an epilogue with scalars of the launch, the same, and one in which all of them are 0,
/// - further seeds, where the outputs are few.
[[nodiscard]] std::vector<TrialInputs> integer_trials(const GemmSpec& spec, const VerifyOptions& options,
                                                      const TrialBudget& budget);

/// The launch with normal numbers, and with the caller's seed and scalars.
[[nodiscard]] TrialInputs normal_trial(const VerifyOptions& options);

/// " (alpha -2, beta 0)": the values that the caller did not name; empty if there is none.
[[nodiscard]] std::string trial_text(const TrialInputs& trial, const VerifyOptions& options);

}  // namespace jitgemm
