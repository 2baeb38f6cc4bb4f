#include "runtime/warm/warm_plan.hpp"

#include "generator/kernel_set.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/store/tuned_kernel_set.hpp"
#include "runtime/warm/on_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>

namespace jitgemm::warm {
namespace {

/// The plan for a request.
struct Planned {
    std::vector<WarmKernel> kernels;
    std::optional<std::string> unserved;  ///< why
};

WarmKernel kernel_of_problem(const GemmSpec& spec, const WarmChooser& chooser) {
    const Problem problem = problem_of(spec);
    const KernelConfig config = chooser.choices.choose(problem, chooser.gpu, chooser.selection).config;
    return {kernel_name(problem, config), problem, config};
}

/// The first m of a range that `multiple` divides.
std::int64_t first_served(const KernelRange& range) {
    return (range.first_m + range.multiple - 1) / range.multiple * range.multiple;
}

/// Whether its binary is another kernel's, which a set loads before it.
bool has_binary_of_another(const KernelSet& set, std::size_t kernel) {
    const SetKernel& own = set.kernels[kernel];
    return &*std::ranges::find(set.kernels, own.body, &SetKernel::body) != &own;
}

std::vector<WarmKernel> kernels_of_range(const WarmRequest& request, const WarmChooser& chooser) {
    const KernelSet set = tuning::serving_kernel_set(request.spec, request.spec.m, request.last_m, chooser.gpu,
                                                     chooser.selection, chooser.choices, chooser.sets);
    std::vector<WarmKernel> kernels;
    for (const KernelRange& range : set.ranges) {
        const std::int64_t m = first_served(range);
        if (m > range.last_m || has_binary_of_another(set, range.kernel)) continue;
        const KernelId& id = set.kernels[range.kernel].id;
        kernels.push_back({kernel_name(id), set.problem(m), id.config});
    }
    return kernels;
}

/// A kernel whose operands are prepared brings the files that prepare them. It may be one without preparation, too.
std::string preparations_of(const Problem& problem) {
    if (!problem.before_preparation) return {};
    const GemmSpec& spec = *problem.before_preparation;
    return fmt::format(" {} {} {} {}", to_string(spec.prepared), to_string(spec.layout), spec.align_a, spec.align_b);
}

Planned planned(const WarmRequest& request, const WarmChooser& chooser) {
    try {
        if (!request.is_range) return {{kernel_of_problem(request.spec, chooser)}, {}};
        return {kernels_of_range(request, chooser), {}};
    } catch (const ReasonedError& error) {
        return {{}, error.what()};
    }
}

}  // namespace

WarmPlan plan_warm(const std::vector<WarmRequest>& requests, const WarmChooser& chooser, int threads,
                   const std::function<bool()>& stopped) {
    std::vector<Planned> found(requests.size());
    on_threads(threads, requests.size(), stopped, [&](std::size_t i) { found[i] = planned(requests[i], chooser); });
    WarmPlan plan;
    std::unordered_set<std::string> names;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        plan.problems += requests[i].last_m - requests[i].spec.m + 1;
        for (WarmKernel& kernel : found[i].kernels)
            if (names.insert(kernel.name + preparations_of(kernel.problem)).second)
                plan.kernels.push_back(std::move(kernel));
        if (found[i].unserved) plan.unserved.push_back({requests[i], *std::move(found[i].unserved)});
    }
    return plan;
}

}  // namespace jitgemm::warm
