#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/tile_index.hpp"

#include <cstdint>

namespace jitgemm {

/// Order in which blocks walk the tiles of D. Block ids follow: row: n first; column: m first; grouped_m: m first
/// within groups of `group` tiles of M; grouped_n: the mirror image; zigzag: as grouped_m, every second group backwards
/// in n.
enum class Rasterization : std::uint8_t { row, column, grouped_m, grouped_n, zigzag };
/// Whether it has groups, and so a group.
[[nodiscard]] constexpr bool has_groups(Rasterization rasterization) {
    return rasterization != Rasterization::row && rasterization != Rasterization::column;
}

/// What decides it, of any family's config that has both.
struct RasterOrder {
    Rasterization rasterization;
    int group;  ///< group width in tiles

    template <typename Config>
    RasterOrder(const Config& config) : rasterization(config.rasterization), group(config.group) {}  // implicit
};

/// The tile that a block takes, and the block that takes a tile, out of tiles.m · tiles.n of each; blocks of further
/// splits of K repeat the order. templates/common/rasterization.cuh says the same in device code.
[[nodiscard]] TileIndex tile_of_block(const RasterOrder& order, std::int64_t block, TileIndex tiles);
[[nodiscard]] std::int64_t block_of_tile(const RasterOrder& order, TileIndex tile, TileIndex tiles);

/// Tiles of D along M and N, the last ones cut by its edges.
[[nodiscard]] TileIndex tiles_of(const TileShape& block, std::int64_t m, std::int64_t n);

}  // namespace jitgemm
