#pragma once

#include "generator/families/shared/rasterization.hpp"

#include <cstdint>

namespace jitgemm {

/// How blocks take the tiles of D and the splits of K, from any config that has both.
struct TileSchedule {
    TileShape block;
    RasterOrder order;
    int split_k;
    bool splits_in_cluster;  ///< the blocks of a tile's splits are a thread-block cluster

    template <typename Config>
    TileSchedule(const Config& config)  // implicit
        : block(config.block), order(config), split_k(config.split_k), splits_in_cluster(config.splits_in_cluster()) {}
};

/// The work of a block: a tile, and one split of its K. Splits that add up in a cluster are neighbours. Else the blocks
/// of the second split follow those of the first. templates/scheduler/tile_of_this_block.inl holds the same in device
/// code.
struct BlockWork {
    TileIndex tile;
    int split = 0;
};
[[nodiscard]] BlockWork work_of_block(const TileSchedule& schedule, std::int64_t block, TileIndex tiles);
/// The block that takes the first split of a tile.
[[nodiscard]] std::int64_t first_block_of_tile(const TileSchedule& schedule, TileIndex tile, TileIndex tiles);

/// The part of K that a split sums up, [first, end), in whole k-tiles except the last one. It may be empty.
struct KRange {
    std::int64_t first = 0;
    std::int64_t end = 0;
    friend bool operator==(const KRange&, const KRange&) = default;
};
[[nodiscard]] KRange k_range_of_split(const TileSchedule& schedule, int split, std::int64_t k);

}  // namespace jitgemm
