#include "generator/layout/predication.hpp"

#include "generator/layout/layout_algebra.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace jitgemm {
namespace {

using Extents = std::vector<std::int64_t>;

void require_positive(const Extents& extents, std::string_view name) {
    if (extents.empty()) throw LayoutError(fmt::format("the {} has no axis", name));
    for (const std::int64_t extent : extents) {
        if (extent < 1)
            throw LayoutError(
                fmt::format("the {} ({}) has {}: it must be at least 1", name, fmt::join(extents, ","), extent));
    }
}

void require_rank(std::size_t rank, const Extents& other, std::string_view name) {
    if (other.size() != rank)
        throw LayoutError(
            fmt::format("the {} ({}) has {} axes, the data {}", name, fmt::join(other, ","), other.size(), rank));
}

IntTuple to_tuple(const Extents& values) { return std::vector<IntTuple>(values.begin(), values.end()); }

std::int64_t tiles_along(std::int64_t extent, std::int64_t tile) { return extent / tile + (extent % tile != 0); }

/// Elements of a tile that lie below the extent.
std::int64_t in_range(std::int64_t extent, std::int64_t tile, std::int64_t index) {
    return std::clamp<std::int64_t>(extent - index * tile, 0, tile);
}

Extents grid_of(const Extents& extents, const Extents& tile) {
    require_positive(extents, "extent");
    require_positive(tile, "tile");
    require_rank(extents.size(), tile, "tile");
    Extents grid;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) grid.push_back(tiles_along(extents[axis], tile[axis]));
    return grid;
}

/// Every tile's count along the axes so far times the counts along the next axis, the next axis fastest.
Extents times_axis(const Extents& counts, std::int64_t extent, std::int64_t tile, std::int64_t tiles) {
    Extents next;
    next.reserve(counts.size() * static_cast<std::size_t>(tiles));
    for (const std::int64_t count : counts) {
        for (std::int64_t i = 0; i < tiles; ++i) next.push_back(count * in_range(extent, tile, i));
    }
    return next;
}

}  // namespace

Predication predicate(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& tile) {
    Predication result;
    result.grid = grid_of(extents, tile);
    const std::int64_t tiles = product(to_tuple(result.grid));
    if (tiles > kMostTiles)
        throw LayoutError(fmt::format("{} tiles are more than the {} that are counted one by one", tiles, kMostTiles));
    result.counts = {1};
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
        result.counts = times_axis(result.counts, extents[axis], tile[axis], result.grid[axis]);
    result.in_bounds = product(to_tuple(extents));
    result.out_of_bounds = checked_product(tiles, product(to_tuple(tile))) - result.in_bounds;
    return result;
}

}  // namespace jitgemm
