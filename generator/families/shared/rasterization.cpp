#include "generator/families/shared/rasterization.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

/// Every order is groups of rows of tiles, walked from left to right with m first, as it is or with m and n swapped:
/// along rows is groups of one row, along columns the same turned around.
struct Groups {
    std::int64_t height = 1;
    bool turned = false;
    bool zigzag = false;
};

Groups groups_of(const RasterOrder& order) {
    switch (order.rasterization) {
        case Rasterization::row: return {};
        case Rasterization::column: return {.turned = true};
        case Rasterization::grouped_m: return {.height = order.group};
        case Rasterization::grouped_n: return {.height = order.group, .turned = true};
        case Rasterization::zigzag: return {.height = order.group, .zigzag = true};
    }
    return {};
}

TileIndex turned_if(bool turned, TileIndex tile) { return turned ? TileIndex{tile.n, tile.m} : tile; }

/// Rows of the group that begins at this row of tiles: the last group may be lower.
std::int64_t group_rows(const Groups& groups, std::int64_t first_row, std::int64_t tiles_m) {
    return std::min(groups.height, tiles_m - first_row);
}

bool goes_backwards(const Groups& groups, std::int64_t group) { return groups.zigzag && group % 2 == 1; }

}  // namespace

TileIndex tile_of_block(const RasterOrder& order, std::int64_t block, TileIndex tiles) {
    const Groups groups = groups_of(order);
    const TileIndex all = turned_if(groups.turned, tiles);
    const std::int64_t group = block / (groups.height * all.n);
    const std::int64_t inside = block % (groups.height * all.n);
    const std::int64_t first_row = group * groups.height;
    const std::int64_t rows = group_rows(groups, first_row, all.m);
    const std::int64_t column = inside / rows;
    const TileIndex tile{first_row + inside % rows, goes_backwards(groups, group) ? all.n - 1 - column : column};
    return turned_if(groups.turned, tile);
}

std::int64_t block_of_tile(const RasterOrder& order, TileIndex tile, TileIndex tiles) {
    const Groups groups = groups_of(order);
    const TileIndex all = turned_if(groups.turned, tiles);
    const TileIndex wanted = turned_if(groups.turned, tile);
    const std::int64_t group = wanted.m / groups.height;
    const std::int64_t first_row = group * groups.height;
    const std::int64_t column = goes_backwards(groups, group) ? all.n - 1 - wanted.n : wanted.n;
    return first_row * all.n + column * group_rows(groups, first_row, all.m) + wanted.m - first_row;
}

TileIndex tiles_of(const TileShape& block, std::int64_t m, std::int64_t n) {
    return {ceil_div(m, std::int64_t{block.m}), ceil_div(n, std::int64_t{block.n})};
}

}  // namespace jitgemm
