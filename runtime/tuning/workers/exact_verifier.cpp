#include "runtime/tuning/workers/exact_verifier.hpp"

#include "runtime/verify/trials.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr std::uint64_t kSeed = 1;

/// Few, as there are many candidates, and as their inputs lie in memory while a problem is searched.
std::uint64_t seeds_of_tuner(const GemmSpec& spec) {
    constexpr std::uint64_t kMostSeeds = 8;
    constexpr double kMostElements = 1 << 24;
    const auto elements = static_cast<double>((spec.m + spec.n) * std::max<std::int64_t>(spec.k, 1));
    return std::min(kMostSeeds, seeds_wanted(spec, kMostElements / elements));
}

}  // namespace

ExactVerifier::ExactVerifier(ContextState& context, const GemmSpec& spec, float alpha, float beta)
    : context_(context), spec_(spec), alpha_(alpha), beta_(beta) {
    for (std::uint64_t seed = kSeed; seed < kSeed + seeds_of_tuner(spec); ++seed)
        trials_.push_back({seed, make_problem(seed), {}, true});
}

GuardedProblem ExactVerifier::make_problem(std::uint64_t seed) const {
    return {context_, spec_, InputKind::integers, seed, alpha_, beta_, Placement::exact};
}

Verification ExactVerifier::verify(Trial& trial, const GemmKernel& kernel) const {
    if (!std::exchange(trial.is_clean, false)) trial.problem = make_problem(trial.seed);
    trial.problem.run(kernel);
    Verification verdict = trial.right ? trial.problem.check_against(*trial.right) : trial.problem.check();
    // Its D is the one that later kernels' are compared with; they run in a problem of their own.
    if (verdict.ok && !trial.right && trial.problem.is_exact())
        trial.right = std::exchange(trial.problem, make_problem(trial.seed));
    trial.is_clean = true;
    return verdict;
}

Verification ExactVerifier::verify(const GemmKernel& kernel) {
    Verification verdict;
    for (Trial& trial : trials_) {
        verdict = verify(trial, kernel);
        if (!verdict.ok) break;
    }
    add_owner(verdict, kernel);
    return verdict;
}

}  // namespace jitgemm::tuning
