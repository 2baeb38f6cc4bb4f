#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <cstdint>

namespace jitgemm {

/// Rows of one wgmma. The k that one multiplies follows from the type of A and B: wgmma_k.
inline constexpr int kWgmmaM = 64;
inline constexpr int kMaxWgmmaN = 256;

/// How the consumer warpgroups of a block share its tiles: each its part of every tile; each a whole tile in its turn,
/// so that one stores while the other multiplies; or each 128 rows of every tile, of which it stores one half while it
/// multiplies the other.
enum class WarpgroupSchedule : std::uint8_t { cooperative, pingpong, overlapped };

/// What takes D from slices staged in shared memory to global memory: TMA, or each warp row by row.
enum class OutputStore : std::uint8_t { tma, shared };

/// Where wgmmas take A from; B they take from shared memory.
enum class OperandSource : std::uint8_t { shared, registers };

/// Half-precision GEMM on wgmma (sm_90a): a producer warp copies k-tiles by TMA into a ring of `stages`, consumer
/// warpgroups multiply, blocks are persistent. Unless they are asked not to be, and then not to have a producer either.
struct WgmmaWarpSpecializedConfig {
    /// D^T = B^T A^T is computed, so that N lies along the 64 rows of a wgmma and M along its columns. Tiles and
    /// clusters are then of D^T, block.m along N.
    bool swap_ab = false;
    TileShape block{128, 256, 64};
    TileShape warpgroup{64, 256, 64};  ///< what a consumer multiplies; warpgroup.k equals block.k
    WarpgroupSchedule schedule = WarpgroupSchedule::cooperative;
    int stages = 4;
    TileShape cluster{1, 1, 1};  ///< block tiles of a cluster along M and N; those of a row share A, of a column B
    /// Of A as wgmmas see it: registers, which each warp loads from shared memory (ldmatrix), leave these 64 rows less
    /// to read.
    OperandSource a_source = OperandSource::shared;
    Rasterization rasterization = Rasterization::grouped_m;
    int group = 8;  ///< cluster tiles; 1 where the rasterization has none
    OutputStore store = OutputStore::tma;
    int slices = 2;            ///< of 16 rows that a warp may have staged
    bool broadcast_c = false;  ///< C is one row, which the epilogue reads for itself
    bool persistent = true;    ///< blocks stay and take tile after tile; else each takes one
    /// A warp does nothing but copy; else one thread of those that multiply copies between two k-tiles.
    bool warp_specialized = true;
    int stream_k = 0;  ///< blocks that share tiles along K where these don't come out even (stream_k.hpp); 0: none
    bool dependent_launch = false;  ///< begins while the launch before it ends (griddepcontrol)
    /// Operands, as wgmmas see them, whose first k-tiles are fetched before it waits for that: constant ones.
    bool early_a = false, early_b = false;

    friend bool operator==(const WgmmaWarpSpecializedConfig&, const WgmmaWarpSpecializedConfig&) = default;
};

}  // namespace jitgemm
