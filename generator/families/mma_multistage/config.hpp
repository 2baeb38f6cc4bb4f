#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/pipeline_choices.hpp"
#include "generator/families/shared/rasterization.hpp"

namespace jitgemm {

/// GEMM of operands of 16, 8 and 32 bits on mma.sync (sm_80+): cp.async pipeline of `stages` tiles, ldmatrix, register
/// double buffering.
struct MmaMultistageConfig {
    TileShape block{128, 128, 32};
    TileShape warp{64, 64, 32};  ///< warp.k equals block.k
    TileShape mma{16, 8, 16};
    int stages = 4;
    int ldmatrix_a = 4;  ///< matrices an ldmatrix of A loads: 1, 2 or 4; trans follows from the layout
    int ldmatrix_b = 4;
    SharedLayout shared_layout = SharedLayout::swizzle;
    Rasterization rasterization = Rasterization::grouped_m;
    int group = 8;    ///< tiles of M or N that are taken together; 1 if the rasterization has no groups
    int split_k = 1;  ///< blocks that share the K of one tile
    Reduction reduction = Reduction::workspace;
    Pack pack = Pack::none;
    int promote = 0;  ///< the K after which tensor cores begin anew, and CUDA cores add their partial sums; 0: never
    /// Its entries begin while the previous kernel ends (griddepcontrol). It needs sm_90.
    bool dependent_launch = false;

    /// Whether the splits of a tile are a cluster.
    [[nodiscard]] bool splits_in_cluster() const { return split_k > 1 && reduction == Reduction::cluster; }
    /// Whether the splits leave partial sums in the workspace.
    [[nodiscard]] bool splits_in_workspace() const { return split_k > 1 && reduction == Reduction::workspace; }

    friend bool operator==(const MmaMultistageConfig&, const MmaMultistageConfig&) = default;
};

}  // namespace jitgemm
