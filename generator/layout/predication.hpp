#pragma once

#include "generator/layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace jitgemm {

// What to do when tiling isn't perfect: the data's extents are rounded up to whole tiles, and every access is guarded
// by a comparison of its coordinate with the true extents (NVIDIA/cutlass media/docs/cpp/cute/0y_predication.md).

/// The identity (coordinate) tensor of some extents: every element's value is its own coordinate. It is tiled and
/// partitioned exactly as the data is, and then says where each piece lies. One layout an axis: the coordinate along
/// it.
class CoordinateTensor {
public:
    /// Throws LayoutError where there is no extent, or one that is not positive.
    explicit CoordinateTensor(const std::vector<std::int64_t>& extents);

    /// ((tile,tile,…),(rest,rest,…)) → coordinate: zipped_divide of every axis. Throws LayoutError where the tile has
    /// another rank than the extents, or an extent that is not positive.
    [[nodiscard]] CoordinateTensor zipped_divide(const std::vector<std::int64_t>& tile) const;
    /// Mode `i` of the tensor with the other modes at 0.
    [[nodiscard]] CoordinateTensor mode(int i) const;
    /// The tensor asked in the order of another layout, e.g. (thread,value) → coordinate.
    [[nodiscard]] CoordinateTensor composition(const Layout& layout) const;

    [[nodiscard]] const std::vector<Layout>& axes() const { return axes_; }
    [[nodiscard]] std::vector<std::int64_t> operator()(const IntTuple& coordinate) const;

private:
    CoordinateTensor() = default;
    std::vector<Layout> axes_;
};

/// Elements that exist, tile by tile.
struct Predication {
    std::vector<std::int64_t> grid;    ///< tiles along each axis, rounded up
    std::vector<std::int64_t> counts;  ///< elements in range of every tile, row-major over the grid (last axis fastest)
    std::int64_t in_bounds = 0;        ///< the data's own elements
    std::int64_t out_of_bounds = 0;    ///< elements of the tiles that lie beyond the data
};

/// Most tiles that `predicate` counts one by one.
inline constexpr std::int64_t kMostTiles = std::int64_t{1} << 22;

/// Tiles data of these extents. Throws LayoutError where ranks differ, a number is not positive, or the grid has more
/// than kMostTiles tiles.
[[nodiscard]] Predication predicate(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& tile);

/// Elements in range that each thread copies of one tile. `layout_tv` maps (thread, value) to the column-major index in
/// the tile; `tile_coordinate` counts tiles along each axis.
[[nodiscard]] std::vector<std::int64_t> predicate_threads(const std::vector<std::int64_t>& extents,
                                                          const std::vector<std::int64_t>& tile,
                                                          const std::vector<std::int64_t>& tile_coordinate,
                                                          const Layout& layout_tv);

/// The predicates of an operand in a GEMM's main loop, K apart from M or N: rows are compared once, before the loop,
/// and broadcast along K; K is compared once per k-tile.
struct MainLoopPredicates {
    std::vector<std::vector<bool>> rows;  ///< [thread][value]: the M or N coordinate exists, whatever the k-tile
    std::vector<std::int64_t> k;          ///< elements along K that exist in each k-tile
};

/// For an operand of `extents` (M or N, K) in tiles of `tile`, in the `row_tile`-th block of rows.
[[nodiscard]] MainLoopPredicates predicate_main_loop(const std::vector<std::int64_t>& extents,
                                                     const std::vector<std::int64_t>& tile, std::int64_t row_tile,
                                                     const Layout& layout_tv);

}  // namespace jitgemm
