#pragma once

#include "generator/families/mma_multistage/geometry.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// How a block tile is shared out: to warps, and a warp's part to mma instructions.
struct KernelTiling {
    TileShape block;
    TileShape warp;
    TileShape mma;
    int warps_m = 0, warps_n = 0;
    int atoms_m = 0, atoms_n = 0;  ///< mma instructions of a warp tile and k-block along M and N
    int k_blocks = 0;
    std::vector<int> warp_of_atom;  ///< of the block tile, atoms row by row
};

[[nodiscard]] KernelTiling kernel_tiling(const GemmSpec& spec, const MmaMultistageConfig& config,
                                         const TensorCoreGeometry& geometry);

/// The block tile of D with its warps and atoms, and the tiles of A and B that feed it.
[[nodiscard]] std::string tiling_html(const KernelTiling& tiling);

}  // namespace jitgemm
