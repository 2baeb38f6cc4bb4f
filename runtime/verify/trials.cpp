#include "runtime/verify/trials.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/round_up.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kFewOutputs = 64;

bool same_scalars(const TrialInputs& trial, const VerifyOptions& options) {
    return trial.alpha == options.alpha && trial.beta == options.beta;
}

/// Scalars that change D where 1 and 1, or 1 and 0, may leave a mistake unseen.
std::vector<TrialInputs> scalar_trials(const GemmSpec& spec, const VerifyOptions& options) {
    const EpilogueParts* const text = parts_of(spec);
    if (text != nullptr && std::ranges::none_of(text->operands, &EpilogueOperand::is_scalar)) return {};
    std::vector<TrialInputs> trials{{.seed = options.seed, .alpha = -2.0F, .beta = 0.0F}};
    if (text != nullptr) {
        trials.push_back({.seed = options.seed, .alpha = 0.5F, .beta = -4.0F});
        trials.push_back({.seed = options.seed, .alpha = 0.0F, .beta = 0.0F});
    }
    if (spec.c) trials.push_back({.seed = options.seed, .alpha = 0.5F, .beta = -4.0F});
    std::erase_if(trials, [&](const TrialInputs& trial) { return same_scalars(trial, options); });
    return trials;
}

double launches(double budget, double launch) { return budget / std::max(launch, 1.0); }

}  // namespace

TrialBudget gpu_budget(const GemmSpec& spec) {
    constexpr std::int64_t kTile = 64;
    constexpr std::int64_t kTilesAtOnce = 128;
    const std::int64_t tiles = spec.batch * ceil_div(spec.m, kTile) * ceil_div(spec.n, kTile);
    const auto steps = static_cast<double>(ceil_div(tiles, kTilesAtOnce)) * static_cast<double>(spec.k);
    return {.launch = steps, .scalars = 0x1p22, .seeds = 0x1p25};
}

std::uint64_t seeds_wanted(const GemmSpec& spec, double most) {
    const auto [rows, columns] = size_of_d(spec);
    const std::int64_t outputs = spec.batch * rows * columns;
    if (outputs == 0 || outputs >= kFewOutputs) return 1;
    const auto further = static_cast<double>(ceil_div(kFewOutputs, outputs) - 1);
    return 1 + static_cast<std::uint64_t>(std::min(further, most));
}

std::vector<TrialInputs> integer_trials(const GemmSpec& spec, const VerifyOptions& options, const TrialBudget& budget) {
    std::vector<TrialInputs> trials{{.seed = options.seed, .alpha = options.alpha, .beta = options.beta}};
    for (const TrialInputs& trial : scalar_trials(spec, options)) {
        if (launches(budget.scalars, budget.launch) >= static_cast<double>(trials.size())) trials.push_back(trial);
    }
    const std::uint64_t seeds = seeds_wanted(spec, launches(budget.seeds, budget.launch));
    for (std::uint64_t i = 1; i < seeds; ++i)
        trials.push_back({.seed = options.seed + i, .alpha = options.alpha, .beta = options.beta});
    return trials;
}

TrialInputs normal_trial(const VerifyOptions& options) {
    return {.inputs = InputKind::normal, .seed = options.seed, .alpha = options.alpha, .beta = options.beta};
}

std::string trial_text(const TrialInputs& trial, const VerifyOptions& options) {
    if (!same_scalars(trial, options)) return fmt::format(" (alpha {}, beta {})", trial.alpha, trial.beta);
    return trial.seed == options.seed ? std::string() : fmt::format(" (seed {})", trial.seed);
}

}  // namespace jitgemm
