#include "runtime/tuning/search.hpp"

#include "generator/error.hpp"

#include <set>

namespace jitgemm::tuning {

SearchSpace search_space(const GemmSpec& asked, const GpuModel& gpu, const Selection& selection) {
    CandidateList list = list_candidates(asked, gpu, selection);
    // Finds nothing either, and says why with every reason there is.
    if (list.accepted.empty()) static_cast<void>(choose_config(asked, gpu, selection));

    SearchSpace space;
    space.spec = resolved(asked);
    const GemmSignature problem = signature(space.spec);
    std::set<std::string> seen;  // families may propose one config twice
    for (const Candidate& candidate : list.accepted) {
        std::string name = kernel_name({problem, candidate.config});
        if (!seen.insert(name).second) continue;
        space.kernels.push_back(std::move(name));
        space.candidates.push_back(candidate);
    }
    space.heuristic_kernel = space.kernels.front();
    return space;
}

}  // namespace jitgemm::tuning
