#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// GEMM on FP32 cores for a small result of a long K. Every warp has sums of the whole block tile, and blocks, warps
/// and lanes share K. A second entry adds up the blocks' sums.
struct SimtLongKConfig {
    TileShape thread{8, 8, 1};  ///< sums of a thread
    TileShape lanes{4, 8, 1};   ///< of a warp along M, N and K; lanes · thread is the block tile
    int block_k = 128;          ///< of K that a block holds in a stage
    int warps = 8;              ///< of a block
    int stages = 3;             ///< k-tiles in shared memory: one in use, the others in flight
    int min_blocks_per_sm = 1;  ///< blocks that an SM must hold at once: bounds the registers of a thread
    int split_k = 132;          ///< blocks that share the K of one tile
    /// Its entries begin while the previous kernel ends (griddepcontrol). It needs sm_90.
    bool dependent_launch = false;

    [[nodiscard]] TileShape block() const { return {thread.m * lanes.m, thread.n * lanes.n, block_k}; }

    friend bool operator==(const SimtLongKConfig&, const SimtLongKConfig&) = default;
};

}  // namespace jitgemm
