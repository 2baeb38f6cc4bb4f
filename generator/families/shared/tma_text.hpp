#pragma once

#include <set>
#include <string>

namespace jitgemm {

/// What a kernel asks of TMA, beside loads.
struct TmaCopies {
    bool multicasts = false;
    bool stores = false;
};
/// `tma_load(target, map, x, y, full)`, tma_load_multicast and tma_store, each with as many coordinates as the tensor
/// map has dimensions, for each of these ranks.
[[nodiscard]] std::string tma_wrappers(const std::set<int>& ranks, TmaCopies copies);

}  // namespace jitgemm
