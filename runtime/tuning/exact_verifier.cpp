#include "runtime/tuning/exact_verifier.hpp"

#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr std::uint64_t kSeed = 1;

Problem make_problem(Context::Impl& context, const GemmSpec& spec, float alpha, float beta) {
    return {context, spec, InputKind::integers, kSeed, alpha, beta, Placement::exact};
}

void run(Context::Impl& context, const GemmKernel& kernel, const Problem& problem) {
    kernel.launch(problem.arguments());
    context.device->synchronize(nullptr);
}

}  // namespace

ExactVerifier::ExactVerifier(Context::Impl& context, const GemmSpec& spec, float alpha, float beta)
    : context_(context), spec_(spec), alpha_(alpha), beta_(beta), problem_(make_problem(context, spec, alpha, beta)) {}

Verification ExactVerifier::verify(const GemmKernel& kernel) {
    problem_.poison_d();
    run(context_, kernel, problem_);
    Verification verdict = right_ ? problem_.check_against(*right_) : problem_.check();
    if (verdict.ok && !right_ && problem_.is_exact()) remember_right_d(kernel);
    add_owner(verdict, kernel);
    return verdict;
}

/// The kernel runs once more into a problem of its own, and is held against the reference there as well.
void ExactVerifier::remember_right_d(const GemmKernel& kernel) {
    Problem again = make_problem(context_, spec_, alpha_, beta_);
    run(context_, kernel, again);
    if (again.check().ok) right_ = std::move(again);
}

}  // namespace jitgemm::tuning
