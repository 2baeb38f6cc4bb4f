#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <cstdint>

namespace jitgemm {

/// The way of a tile from global to shared memory: by cp.async past the registers, or through them.
enum class CopyPath : std::uint8_t { async, registers };

/// The column where a thread starts its first row of sums at each k: the first, the last, or the even columns before
/// the odd ones. Each next row goes the other way. ptxas spreads the sums over the register banks accordingly.
enum class UpdateOrder : std::uint8_t { left, right, even };

/// The source of the epilogue's stores: rows that shared memory rearranges, or the sums in registers.
enum class EpilogueStore : std::uint8_t { shared, registers };

/// GEMM on FP32 cores in CUTLASS's hierarchy: block tile, warp tile, thread tile, rank-1 updates of register fragments.
struct SimtHierarchicalConfig {
    TileShape block{256, 128, 16};
    TileShape warp{64, 64, 16};  ///< warp.k equals block.k
    TileShape thread{16, 8, 1};  ///< sums of a thread, in quads of four neighbours along N
    int stages = 3;              ///< k-tiles in shared memory: one in use, the others in flight
    CopyPath copy = CopyPath::async;
    bool double_buffer = true;  ///< fragments of the next k are loaded before the fmas of the current one
    UpdateOrder order = UpdateOrder::left;
    int k_lanes = 4;            ///< k that a warp copies at once, of an operand that is transposed on the way
    int copy_slices = 8;        ///< values of k over which the copies of a k-tile are spread
    bool predicated = true;     ///< the problem may end within a block tile: copies check the bounds
    int min_blocks_per_sm = 1;  ///< blocks that an SM must hold at once: bounds the registers of a thread
    EpilogueStore store = EpilogueStore::registers;  ///< shared: warps rearrange their sums into rows of D
    Rasterization rasterization = Rasterization::grouped_m;
    int group = 8;    ///< tiles of M or N that are taken together; 1 if the rasterization has no groups
    int split_k = 1;  ///< blocks that share the K of one tile; their sums meet in the workspace
    /// Blocks of a wave. Tiles left over from whole waves are cut in two along K, so that all SMs share them (the
    /// remainder of "Stream-K", Osama et al. 2023, with two parts per tile). 0: no tile is cut.
    int blocks_per_wave = 0;
    /// Its entries begin while the previous kernel ends (griddepcontrol). It needs sm_90.
    bool dependent_launch = false;

    friend bool operator==(const SimtHierarchicalConfig&, const SimtHierarchicalConfig&) = default;
};

}  // namespace jitgemm
