#include "runtime/tuning/search/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace jitgemm::tuning {

namespace {

/// What a winner is compared with is what would be chosen unmeasured, of all kernels: a part of the space has its own
/// best, which says nothing of what the search was worth.
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

}  // namespace jitgemm::tuning
