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

/// Coordinates in the data of one tile's elements, by thread and value.
CoordinateTensor thread_coordinates(const Extents& extents, const Extents& tile, const Layout& layout_tv) {
    if (layout_tv.rank() != 2)
        throw LayoutError(fmt::format("{} is no layout of (thread, value)", to_string(layout_tv)));
    return CoordinateTensor(extents).zipped_divide(tile).mode(0).composition(layout_tv);
}

void require_inside(const Extents& coordinate, const Extents& grid) {
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
        if (coordinate[axis] < 0 || coordinate[axis] >= grid[axis])
            throw LayoutError(
                fmt::format("tile ({}) lies outside the grid ({})", fmt::join(coordinate, ","), fmt::join(grid, ",")));
    }
}

}  // namespace

CoordinateTensor::CoordinateTensor(const std::vector<std::int64_t>& extents) {
    require_positive(extents, "extent");
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        std::vector<IntTuple> strides(extents.size(), IntTuple(0));
        strides[axis] = 1;
        axes_.emplace_back(to_tuple(extents), IntTuple(std::move(strides)));
    }
}

CoordinateTensor CoordinateTensor::zipped_divide(const std::vector<std::int64_t>& tile) const {
    require_positive(tile, "tile");
    require_rank(axes_.size(), tile, "tile");
    CoordinateTensor divided;
    for (const Layout& axis : axes_) divided.axes_.push_back(jitgemm::zipped_divide(axis, Tiler(to_tuple(tile))));
    return divided;
}

CoordinateTensor CoordinateTensor::mode(int i) const {
    CoordinateTensor picked;
    for (const Layout& axis : axes_) picked.axes_.push_back(axis.mode(i));
    return picked;
}

CoordinateTensor CoordinateTensor::composition(const Layout& layout) const {
    CoordinateTensor composed;
    for (const Layout& axis : axes_) composed.axes_.push_back(jitgemm::composition(axis, layout));
    return composed;
}

std::vector<std::int64_t> CoordinateTensor::operator()(const IntTuple& coordinate) const {
    std::vector<std::int64_t> values;
    for (const Layout& axis : axes_) values.push_back(axis(coordinate));
    return values;
}

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

std::vector<std::int64_t> predicate_threads(const std::vector<std::int64_t>& extents,
                                            const std::vector<std::int64_t>& tile,
                                            const std::vector<std::int64_t>& tile_coordinate, const Layout& layout_tv) {
    require_rank(extents.size(), tile_coordinate, "tile coordinate");
    require_inside(tile_coordinate, grid_of(extents, tile));
    const CoordinateTensor coordinates = thread_coordinates(extents, tile, layout_tv);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(layout_tv.size(0)), 0);
    for (std::size_t thread = 0; thread < counts.size(); ++thread) {
        for (std::int64_t value = 0; value < layout_tv.size(1); ++value) {
            const Extents at = coordinates(std::vector<IntTuple>{static_cast<std::int64_t>(thread), value});
            bool exists = true;
            for (std::size_t axis = 0; axis < at.size(); ++axis)
                exists = exists && at[axis] + tile_coordinate[axis] * tile[axis] < extents[axis];
            counts[thread] += exists;
        }
    }
    return counts;
}

MainLoopPredicates predicate_main_loop(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& tile,
                                       std::int64_t row_tile, const Layout& layout_tv) {
    const Extents grid = grid_of(extents, tile);
    if (extents.size() != 2) throw LayoutError("an operand has two axes: M or N, and K");
    require_inside({row_tile, 0}, grid);
    const Layout rows = thread_coordinates(extents, tile, layout_tv).axes().front();
    MainLoopPredicates result;
    for (std::int64_t thread = 0; thread < layout_tv.size(0); ++thread) {
        std::vector<bool>& exists = result.rows.emplace_back();
        for (std::int64_t value = 0; value < layout_tv.size(1); ++value)
            exists.push_back(rows(std::vector<IntTuple>{thread, value}) + row_tile * tile[0] < extents[0]);
    }
    for (std::int64_t k_tile = 0; k_tile < grid[1]; ++k_tile) result.k.push_back(in_range(extents[1], tile[1], k_tile));
    return result;
}

}  // namespace jitgemm
