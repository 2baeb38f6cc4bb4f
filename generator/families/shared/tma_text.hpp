#pragma once

#include <set>
#include <string>

namespace jitgemm {

/// The TMA copies of a kernel beside loads.
struct TmaCopies {
    bool multicasts = false;
    bool stores = false;
    int of_problem = 0;  ///< coordinates that a map says, the last ones: the problem's along the batch's dimensions
};
/// `tma_load(target, map, x, y, full)`, tma_load_multicast and tma_store, for each of these ranks. Each takes as many
/// coordinates as the tensor map has dimensions, but for those.
[[nodiscard]] std::string tma_wrappers(const std::set<int>& ranks, TmaCopies copies);

}  // namespace jitgemm
