#pragma once

#include "generator/families/mma_multistage/config.hpp"

#include <cstdint>

namespace jitgemm {

/// A tile of D, counted in tiles.
struct TileIndex {
    std::int64_t m = 0;
    std::int64_t n = 0;
    friend bool operator==(const TileIndex&, const TileIndex&) = default;
};

/// What decides it, of any family's config that has both.
struct RasterOrder {
    Rasterization rasterization;
    int group;  ///< strip width in tiles

    template <typename Config>
    RasterOrder(const Config& config) : rasterization(config.rasterization), group(config.group) {}  // implicit
};

/// The tile that a block takes, and the block that takes a tile, out of tiles.m · tiles.n of each; blocks of further splits
/// of K repeat the order. templates/rasterization.cuh says the same in device code.
[[nodiscard]] TileIndex tile_of_block(const RasterOrder& order, std::int64_t block, TileIndex tiles);
[[nodiscard]] std::int64_t block_of_tile(const RasterOrder& order, TileIndex tile, TileIndex tiles);

/// Tiles of D along M and N, the last ones cut by its edges.
[[nodiscard]] TileIndex tiles_of(const TileShape& block, std::int64_t m, std::int64_t n);

/// What a block of a kernel does: a tile, and of its K one split. Splits that add up in a cluster are neighbours; else the blocks of
/// the second split follow those of the first. templates/tile_of_this_block.inl says the same in device code.
struct BlockWork {
    TileIndex tile;
    int split = 0;
};
[[nodiscard]] BlockWork work_of_block(const MmaMultistageConfig& config, std::int64_t block, TileIndex tiles);
/// The block that takes the first split of a tile.
[[nodiscard]] std::int64_t first_block_of_tile(const MmaMultistageConfig& config, TileIndex tile, TileIndex tiles);

/// The part of K that a split sums up, [first, end), in whole k-blocks but for the last; it may be empty.
struct KRange {
    std::int64_t first = 0;
    std::int64_t end = 0;
    friend bool operator==(const KRange&, const KRange&) = default;
};
[[nodiscard]] KRange k_range_of_split(const MmaMultistageConfig& config, int split, std::int64_t k);

}  // namespace jitgemm
