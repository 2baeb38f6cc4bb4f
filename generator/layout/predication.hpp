#pragma once

#include "generator/layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace jitgemm {

// Predication is for tiles that do not divide the data. The extents are rounded up to whole tiles, and every access
// compares its coordinate with the true extents (NVIDIA/cutlass media/docs/cpp/cute/0y_predication.md).

/// The elements of every tile that lie within the data.
struct Predication {
    std::vector<std::int64_t> grid;  ///< tiles along each axis, rounded up
    std::vector<std::int64_t>
        counts;                      ///< elements in range of every tile, row by row over the grid (last axis fastest)
    std::int64_t in_bounds = 0;      ///< the data's own elements
    std::int64_t out_of_bounds = 0;  ///< elements of the tiles that lie beyond the data
};

/// Most tiles that `predicate` counts one by one.
inline constexpr std::int64_t kMostTiles = std::int64_t{1} << 22;

/// The tiles of data of these extents. Throws LayoutError if ranks differ, a number is not positive, or the grid has
/// more than kMostTiles tiles.
[[nodiscard]] Predication predicate(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& tile);

}  // namespace jitgemm
