#include "runtime/tuning/search/search.hpp"

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace jitgemm::tuning {

namespace {

/// A winner is compared with the heuristic's choice from all kernels. If the search covers a part of the space, the
/// heuristic's best of this part would say nothing about the worth of the search.
void set_heuristic(SearchSpace& space, const Problem& problem, const GpuModel& gpu, const Selection& selection) {
    Candidate best = space.candidates.front();
    if (!selection.takes_all()) {
        const CandidateList all = list_candidates(problem, gpu);
        if (!all.accepted.empty()) best = all.accepted.front();
    }
    space.heuristic_kernel = kernel_name(problem, best.config);
    space.heuristic_predicted_us = best.cost.total_us;
}

}  // namespace

SearchSpace search_space(const Problem& problem, const GpuModel& gpu, const Selection& selection) {
    CandidateList list = list_candidates(problem, gpu, selection);
    // Finds nothing either, and says why with every reason there is.
    if (list.accepted.empty()) static_cast<void>(choose_config(problem, gpu, selection));

    SearchSpace space;
    space.spec = problem.asked;
    std::set<std::string> seen;  // families may propose one config twice
    for (const Candidate& candidate : list.accepted) {
        std::string name = kernel_name(problem, candidate.config);
        if (!seen.insert(name).second) continue;
        space.kernels.push_back(std::move(name));
        space.candidates.push_back(candidate);
    }
    set_heuristic(space, problem, gpu, selection);
    return space;
}

bool add_kernel(SearchSpace& space, const Problem& problem, const GpuModel& gpu, const std::string& kernel) {
    if (std::ranges::find(space.kernels, kernel) != space.kernels.end()) return true;
    try {
        const KernelId id = parse_kernel_name(kernel);
        const Family& family = family_of(id.config);
        if (id.signature != problem.signature || !family.violations(problem, id.config, *gpu.arch).empty())
            return false;
        space.candidates.push_back({id.config, family.cost(problem, id.config, gpu)});
        space.kernels.push_back(kernel);
        return true;
    } catch (const ReasonedError&) {
        return false;
    }
}

}  // namespace jitgemm::tuning
