#include "runtime/tuning/store/tuned_kernel_set.hpp"

#include <utility>

namespace jitgemm::tuning {
namespace {

/// The m of tuned problems that differ from the spec in m alone, as far as a kernel knows.
std::vector<std::int64_t> tuned_rows(GemmSpec spec, std::int64_t first_m, const TunedChoices& choices) {
    spec.m = first_m;
    const Problem problem = problem_of(spec);
    const auto GemmSpec::*rows = problem.transposed ? &GemmSpec::n : &GemmSpec::m;
    const auto GemmSpec::*columns = problem.transposed ? &GemmSpec::m : &GemmSpec::n;
    std::vector<std::int64_t> found;
    for (const Problem* const known : choices.tuned_problems()) {
        const GemmSpec& tuned = known->row_major();
        if (tuned.*columns == problem.row_major().*columns && tuned.k == spec.k && tuned.a == problem.row_major().a &&
            tuned.layout == problem.row_major().layout)
            found.push_back(tuned.*rows);
    }
    return found;
}

}  // namespace

KernelSet tuned_kernel_set(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m, const GpuModel& gpu,
                           const Selection& selection, const TunedChoices& choices, KernelSetOptions options) {
    options.better = [&](const Problem& problem, const KernelConfig& heuristic) -> std::optional<BetterChoice> {
        const std::optional<TunedChoice> choice = choices.better_than(heuristic, problem, gpu, selection);
        return choice ? std::optional(BetterChoice{choice->config, choice->gain}) : std::nullopt;
    };
    options.samples = tuned_rows(spec, first_m, choices);
    return build_kernel_set(spec, first_m, last_m, gpu, selection, options);
}

KernelSet serving_kernel_set(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m, const GpuModel& gpu,
                             const Selection& selection, const TunedChoices& choices, const TunedSets& sets) {
    std::optional<KernelSet> stored = sets.find(spec, first_m, last_m, gpu, selection);
    return stored ? *std::move(stored) : tuned_kernel_set(spec, first_m, last_m, gpu, selection, choices);
}

}  // namespace jitgemm::tuning
