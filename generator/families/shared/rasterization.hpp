#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/tile_index.hpp"

#include <cstdint>

namespace jitgemm {

/// Order in which blocks take the tiles of D. Block ids go, for row: n first; column: m first; grouped_m: m first
/// within groups of `group` tiles of M; grouped_n: the same with m and n exchanged; zigzag: as grouped_m, with every
/// second group backwards in n.
enum class Rasterization : std::uint8_t { row, column, grouped_m, grouped_n, zigzag };
/// Whether it has groups, and therefore a group parameter.
[[nodiscard]] constexpr bool has_groups(Rasterization rasterization) {
    return rasterization != Rasterization::row && rasterization != Rasterization::column;
}

/// The two parameters that decide the order, taken from any config that has both.
struct RasterOrder {
    Rasterization rasterization;
    int group;  ///< group width in tiles

    template <typename Config>
    RasterOrder(const Config& config) : rasterization(config.rasterization), group(config.group) {}  // implicit
};

/// The tile of a block, and the block of a tile, among tiles.m · tiles.n. Blocks of further splits of K repeat the
/// order. templates/common/rasterization.cuh holds the same in device code.
[[nodiscard]] TileIndex tile_of_block(const RasterOrder& order, std::int64_t block, TileIndex tiles);
[[nodiscard]] std::int64_t block_of_tile(const RasterOrder& order, TileIndex tile, TileIndex tiles);

/// Tiles of D along M and N. The edges of D cut the last ones.
[[nodiscard]] TileIndex tiles_of(const TileShape& block, std::int64_t m, std::int64_t n);

}  // namespace jitgemm
