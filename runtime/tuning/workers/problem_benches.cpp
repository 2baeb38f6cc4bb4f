#include "runtime/tuning/workers/problem_benches.hpp"

#include "runtime/bench/rotating_operands.hpp"

#include <algorithm>
#include <limits>

namespace jitgemm::tuning {

std::int64_t bench_bytes(const GemmSpec& spec, const GpuModel& gpu) {
    constexpr std::int64_t kVerifying = 2;  // copies of all operands: the kernel's, and those of the right D
    const RotationPlan plan =
        rotation_plan(spec, rotating_bytes(gpu, TimingOptions{}), std::numeric_limits<std::int64_t>::max());
    return (plan.copies + kVerifying) * plan.bytes_per_copy();
}

ProblemBenches::ProblemBenches(ContextState& context)
    : context_(context), free_at_first_(context.device->free_memory()) {}

ExactVerifier& ProblemBenches::verifier(const VerifyJob& job) {
    Bench& bench = turn_to(job.spec, job.alpha, job.beta);
    if (is_crowded()) bench.timing.reset();
    if (!bench.verifier) bench.verifier.emplace(context_, job.spec, job.alpha, job.beta);
    return *bench.verifier;
}

TimingBench& ProblemBenches::timing(const TimeJob& job) {
    Bench& bench = turn_to(job.spec, job.alpha, job.beta);
    if (is_crowded()) bench.verifier.reset();
    if (!bench.timing || !bench.timing->serves(job)) bench.timing.emplace(context_, job);
    return *bench.timing;
}

ProblemBenches::Bench& ProblemBenches::turn_to(const GemmSpec& spec, float alpha, float beta) {
    const auto known = std::ranges::find_if(
        benches_, [&](const Bench& bench) { return bench.spec == spec && bench.alpha == alpha && bench.beta == beta; });
    if (known == benches_.end())
        benches_.push_front({.spec = spec, .alpha = alpha, .beta = beta, .verifier = {}, .timing = {}});
    else
        benches_.splice(benches_.begin(), benches_, known);
    while (benches_.size() > kProblemsInFlight || (benches_.size() > 1 && is_crowded())) drop_oldest();
    return benches_.front();
}

/// Code that others' graphs hold stays loaded; the rest is loaded again if need be.
void ProblemBenches::drop_oldest() {
    benches_.pop_back();
    context_.loaded.clear();
}

bool ProblemBenches::others_hold_the_memory() {
    while (!benches_.empty()) drop_oldest();
    return context_.device->free_memory() < context_.device->total_memory() / 2;
}

bool ProblemBenches::is_crowded() const { return context_.device->free_memory() < free_at_first_ / 2; }

}  // namespace jitgemm::tuning
