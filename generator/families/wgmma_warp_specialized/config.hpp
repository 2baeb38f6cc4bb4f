#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <cstdint>

namespace jitgemm {

/// Rows of one wgmma. The k that one multiplies follows from the type of A and B: wgmma_k.
inline constexpr int kWgmmaM = 64;
inline constexpr int kMaxWgmmaN = 256;

/// How the consumer warpgroups of a block share its tiles. cooperative: each computes its part of every tile. pingpong:
/// each takes whole tiles in turn, and one stores while the other multiplies. overlapped: each computes 128 rows of
/// every tile, and stores one half while it multiplies the other.
enum class WarpgroupSchedule : std::uint8_t { cooperative, pingpong, overlapped };

/// The way of D from slices staged in shared memory to global memory: by TMA, or row by row by each warp.
enum class OutputStore : std::uint8_t { tma, shared };

/// The source of A for wgmmas. B always comes from shared memory.
enum class OperandSource : std::uint8_t { shared, registers };

/// Scales of blocks of K are copied to shared memory beside each k-tile. tma: by TMA, if their rows are aligned to 16
/// bytes. threads: by a warp of the producer, with cp.async.
enum class ScaleSource : std::uint8_t { tma, threads };

/// GEMM of 16-bit elements and 8-bit floats on wgmma (sm_90a). A producer warp copies k-tiles by TMA into a ring of
/// `stages`, consumer warpgroups multiply, and blocks are persistent. `persistent` and `warp_specialized` turn this
/// off.
struct WgmmaWarpSpecializedConfig {
    /// The kernel computes D^T = B^T A^T: N lies along the 64 rows of a wgmma, and M along its columns. Tiles and
    /// clusters are then of D^T, with block.m along N.
    bool swap_ab = false;
    TileShape block{128, 256, 64};
    TileShape warpgroup{64, 256, 64};  ///< the tile of a consumer; warpgroup.k equals block.k
    WarpgroupSchedule schedule = WarpgroupSchedule::cooperative;
    int stages = 4;
    TileShape cluster{1, 1,
                      1};  ///< block tiles of a cluster along M and N; a row of blocks shares A, a column shares B
    /// The source of wgmma's A. If each warp loads A into registers (ldmatrix), wgmmas read these 64 rows less from
    /// shared memory.
    OperandSource a_source = OperandSource::shared;
    /// Sums of wgmmas begin anew after this much of K, and CUDA cores add them to f32 sums. 0: wgmmas add all of K.
    int promote = 0;
    ScaleSource scales = ScaleSource::tma;  ///< where the text has scales of blocks of K
    Rasterization rasterization = Rasterization::grouped_m;
    int group = 8;  ///< cluster tiles; 1 if the rasterization has no groups
    OutputStore store = OutputStore::tma;
    int slices = 2;            ///< slices of 16 rows that a warp may have staged
    bool broadcast_c = false;  ///< C is one row, which the epilogue reads itself
    bool persistent = true;    ///< blocks take tile after tile; else each takes one
    /// One warp only copies. Else a thread of the multiplying warps copies between two k-tiles.
    bool warp_specialized = true;
    int stream_k = 0;  ///< blocks that share tiles along K if whole tiles do not come out even (stream_k.hpp); 0: none
    bool dependent_launch = false;  ///< begins while the previous kernel ends (griddepcontrol)
    /// Operands, as wgmmas see them, whose first k-tiles are fetched before the kernel waits for the previous one. They
    /// must be constant.
    bool early_a = false, early_b = false;

    friend bool operator==(const WgmmaWarpSpecializedConfig&, const WgmmaWarpSpecializedConfig&) = default;
};

}  // namespace jitgemm
