#pragma once

#include "generator/families/family.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// The division of a block tile among warps, and of a warp's part among mma instructions.
struct KernelTiling {
    TileShape block;
    TileShape warp;
    TileShape mma;
    int warps_m = 0, warps_n = 0;
    int atoms_m = 0, atoms_n = 0;  ///< mma instructions of a warp tile and k-block along M and N
    int k_blocks = 0;
    std::vector<int> warp_of_atom;  ///< of the block tile, atoms row by row
};

/// An atom is the family's mma or thread tile; if that is a single element, it is the warp tile. K is drawn in k-blocks
/// if ldmatrix loads them.
[[nodiscard]] KernelTiling kernel_tiling(const Problem& problem, const KernelConfig& config,
                                         const KernelAnatomy& anatomy);

/// The block tile of D with its warps and atoms, and the tiles of A and B that feed it.
[[nodiscard]] std::string tiling_html(const KernelTiling& tiling);

}  // namespace jitgemm
