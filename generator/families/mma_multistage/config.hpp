#pragma once

#include "generator/tile_shape.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace jitgemm {

/// Order in which blocks walk the tiles of D. Block ids follow: row: n first; column: m first; grouped_m: m first within
/// strips of `group` tiles of M; grouped_n: the mirror image; zigzag: as grouped_m, every second strip backwards in n.
enum class Rasterization : std::uint8_t { row, column, grouped_m, grouped_n, zigzag };
/// Whether it has strips, and so a group.
[[nodiscard]] constexpr bool has_strips(Rasterization rasterization) {
    return rasterization != Rasterization::row && rasterization != Rasterization::column;
}

/// How a tile lies in shared memory: 16-byte chunks permuted by XOR with the row, or rows padded by one chunk.
enum class SharedLayout : std::uint8_t { swizzle, padding };

/// Where the epilogue's stores come from: rearranged through shared memory into rows, or straight from the fragments.
enum class EpilogueStore : std::uint8_t { shared, registers };

/// Where the sums of blocks that share the K of a tile meet: in the workspace, added up by a second entry; or, sm_90 and later,
/// in the shared memory of a thread-block cluster.
enum class Reduction : std::uint8_t { workspace, cluster };

/// Operands copied into the workspace first, their rows padded to 16 bytes, because they are too little aligned for
/// 16-byte cp.async: a bit each.
enum class Pack : std::uint8_t { none, a, b, ab };
[[nodiscard]] constexpr bool packs_a(Pack pack) { return pack == Pack::a || pack == Pack::ab; }
[[nodiscard]] constexpr bool packs_b(Pack pack) { return pack == Pack::b || pack == Pack::ab; }

/// Half-precision GEMM on mma.sync (sm_80+): cp.async pipeline of `stages` tiles, ldmatrix, register double buffering.
struct MmaMultistageConfig {
    TileShape block{128, 128, 32};
    TileShape warp{64, 64, 32};  ///< warp.k equals block.k
    TileShape mma{16, 8, 16};
    int stages = 4;
    int ldmatrix_a = 4;  ///< matrices an ldmatrix of A loads: 1, 2 or 4; trans follows from the layout
    int ldmatrix_b = 4;
    SharedLayout shared_layout = SharedLayout::swizzle;
    bool double_buffer = true;  ///< fragments of the next k-step are loaded before the mma of the current one
    Rasterization rasterization = Rasterization::grouped_m;
    int group = 8;  ///< strip width in tiles; 1 where the rasterization has none
    EpilogueStore epilogue = EpilogueStore::shared;
    int split_k = 1;  ///< blocks that share the K of one tile
    Reduction reduction = Reduction::workspace;
    Pack pack = Pack::none;

    /// Whether the splits of a tile are a cluster.
    [[nodiscard]] bool splits_in_cluster() const { return split_k > 1 && reduction == Reduction::cluster; }
    /// Whether they leave partial sums in the workspace.
    [[nodiscard]] bool splits_in_workspace() const { return split_k > 1 && reduction == Reduction::workspace; }

    friend bool operator==(const MmaMultistageConfig&, const MmaMultistageConfig&) = default;
};

}  // namespace jitgemm
