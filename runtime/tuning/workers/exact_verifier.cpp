#include "runtime/tuning/workers/exact_verifier.hpp"

#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr std::uint64_t kSeed = 1;

Problem make_problem(ContextState& context, const GemmSpec& spec, float alpha, float beta) {
    return {context, spec, InputKind::integers, kSeed, alpha, beta, Placement::exact};
}

}  // namespace

ExactVerifier::ExactVerifier(ContextState& context, const GemmSpec& spec, float alpha, float beta)
    : context_(context), spec_(spec), alpha_(alpha), beta_(beta), problem_(make_problem(context, spec, alpha, beta)) {}

Verification ExactVerifier::verify(const GemmKernel& kernel) {
    problem_.run(kernel);
    Verification verdict = right_ ? problem_.check_against(*right_) : problem_.check();
    // Its D is the one that later kernels' are compared with; they run in a problem of their own.
    if (verdict.ok && !right_ && problem_.is_exact())
        right_ = std::exchange(problem_, make_problem(context_, spec_, alpha_, beta_));
    add_owner(verdict, kernel);
    return verdict;
}

}  // namespace jitgemm::tuning
