#pragma once

#include "generator/base/arch.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"

namespace jitgemm {

/// SM cycles in which a block is through with a k-tile.
struct KTileCycles {
    double multiply;  ///< by the tensor cores
    double fetch;     ///< from L2
    double all;       ///< the slowest of these, and of what issues the copies
};

/// Of the problem as wgmmas see it (as_multiplied), with its geometry.
[[nodiscard]] KTileCycles k_tile_cycles(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                        const WgmmaGeometry& geometry, const GpuModel& gpu);

/// Blocks that are at work at once.
[[nodiscard]] double blocks_at_work(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                    const GpuModel& gpu);

}  // namespace jitgemm
