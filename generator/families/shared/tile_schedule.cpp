#include "generator/families/shared/tile_schedule.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>

namespace jitgemm {

BlockWork work_of_block(const TileSchedule& s, std::int64_t block, TileIndex tiles) {
    if (s.splits_in_cluster)
        return {tile_of_block(s.order, block / s.split_k, tiles), static_cast<int>(block % s.split_k)};
    const std::int64_t count = tiles.m * tiles.n;
    return {tile_of_block(s.order, block % count, tiles), static_cast<int>(block / count)};
}

std::int64_t first_block_of_tile(const TileSchedule& s, TileIndex tile, TileIndex tiles) {
    return block_of_tile(s.order, tile, tiles) * (s.splits_in_cluster ? s.split_k : 1);
}

KRange k_range_of_split(const TileSchedule& s, int split, std::int64_t k) {
    const std::int64_t share = ceil_div(k, std::int64_t{s.split_k} * s.block.k) * s.block.k;
    return {std::min(split * share, k), std::min((split + 1) * share, k)};
}

}  // namespace jitgemm
