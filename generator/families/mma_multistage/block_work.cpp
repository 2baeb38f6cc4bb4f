#include "generator/families/mma_multistage/block_work.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>

namespace jitgemm {

BlockWork work_of_block(const MmaMultistageConfig& config, std::int64_t block, TileIndex tiles) {
    if (config.splits_in_cluster())
        return {tile_of_block(config, block / config.split_k, tiles), static_cast<int>(block % config.split_k)};
    const std::int64_t count = tiles.m * tiles.n;
    return {tile_of_block(config, block % count, tiles), static_cast<int>(block / count)};
}

std::int64_t first_block_of_tile(const MmaMultistageConfig& config, TileIndex tile, TileIndex tiles) {
    return block_of_tile(config, tile, tiles) * (config.splits_in_cluster() ? config.split_k : 1);
}

KRange k_range_of_split(const MmaMultistageConfig& config, int split, std::int64_t k) {
    const std::int64_t share = ceil_div(k, std::int64_t{config.split_k} * config.block.k) * config.block.k;
    return {std::min(split * share, k), std::min((split + 1) * share, k)};
}

}  // namespace jitgemm
