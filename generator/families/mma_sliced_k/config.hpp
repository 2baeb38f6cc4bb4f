#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// Half-precision GEMM for a few rows or columns on mma.sync: the warps of a block slice K among them (sliced-K), and
/// each copies by TMA what it multiplies into a ring of its own. One operand is long and read once, such as weights;
/// all rows of the other one meet each of its rows.
struct MmaSlicedKConfig {
    /// D^T = B^T A^T is computed: B is the long operand, and A has the few rows. Tiles are then of D^T, block.m along
    /// N.
    bool swap_ab = false;
    /// block.m rows of the long operand; block.n holds all of the other one's; of a k-tile each warp takes a panel.
    TileShape block{16, 8, 512};
    int stages = 6;                ///< panels in a warp's ring: one in use, the others in flight
    bool dependent_launch = true;  ///< begins while the launch before it ends (griddepcontrol)
    bool early = false;  ///< first panels of the long operand, a constant one, are fetched before it waits for that

    friend bool operator==(const MmaSlicedKConfig&, const MmaSlicedKConfig&) = default;
};

}  // namespace jitgemm
