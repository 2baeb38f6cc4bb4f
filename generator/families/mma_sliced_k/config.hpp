#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// Half-precision GEMM on mma.sync for a few rows or columns. The warps of a block slice K among them (sliced-K), and
/// each copies its operands by TMA into its own ring. One operand is long and read once, for example weights. All rows
/// of the other operand meet each row of the long one.
struct MmaSlicedKConfig {
    /// The kernel computes D^T = B^T A^T: B is the long operand, and A has the few rows. Tiles are then tiles of D^T,
    /// with block.m along N.
    bool swap_ab = false;
    /// block.m rows of the long operand. block.n holds all rows of the other one. Each warp takes a panel of a k-tile.
    TileShape block{16, 8, 512};
    int stages = 6;                ///< panels in a warp's ring: one in use, the others in flight
    bool dependent_launch = true;  ///< begins while the previous kernel ends (griddepcontrol)
    bool early =
        false;  ///< fetches first panels of the (constant) long operand before it waits for the previous kernel

    friend bool operator==(const MmaSlicedKConfig&, const MmaSlicedKConfig&) = default;
};

}  // namespace jitgemm
