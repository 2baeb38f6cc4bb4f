#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/problem.hpp"

#include <limits>
#include <vector>

namespace jitgemm {

/// Candidates that share a tile. Whoever has a faster kernel than `least_us` need not make them.
template <typename Config>
struct CandidateGroup {
    double least_us = 0;  ///< cost() of each of them is at least this, but for rounding
    Config tile;          ///< has the fields that they share
};

/// The candidates of all groups of a family that has groups.
template <typename Typed>
[[nodiscard]] std::vector<typename Typed::Config> candidates_of_all_groups(const Problem& problem,
                                                                           const GpuModel& gpu) {
    std::vector<typename Typed::Config> list;
    for (const CandidateGroup<typename Typed::Config>& group : Typed::groups(problem, gpu))
        Typed::add_candidates(list, problem, group.tile, gpu, std::numeric_limits<double>::infinity());
    return list;
}

}  // namespace jitgemm
