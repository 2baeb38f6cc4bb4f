#pragma once

#include "generator/families/mma_multistage/block_work.hpp"
#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <cstdint>

namespace jitgemm {

/// What a block of a kernel does: a tile, and of its K one split. Splits that add up in a cluster are neighbours; else the blocks of
/// the second split follow those of the first. templates/tile_of_this_block.inl says the same in device code.
struct BlockWork {
    TileIndex tile;
    int split = 0;
};
[[nodiscard]] BlockWork work_of_block(const MmaMultistageConfig& config, std::int64_t block, TileIndex tiles);
/// The block that takes the first split of a tile.
[[nodiscard]] std::int64_t first_block_of_tile(const MmaMultistageConfig& config, TileIndex tile, TileIndex tiles);

/// The part of K that a split sums up, [first, end), in whole k-tiles but for the last; it may be empty.
struct KRange {
    std::int64_t first = 0;
    std::int64_t end = 0;
    friend bool operator==(const KRange&, const KRange&) = default;
};
[[nodiscard]] KRange k_range_of_split(const MmaMultistageConfig& config, int split, std::int64_t k);

}  // namespace jitgemm
