#pragma once

#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

namespace jitgemm {

/// SM cycles in which a block is through with a k-tile.
struct KTileCycles {
    double multiply;  ///< by the tensor cores
    double fetch;     ///< from L2
    double all;       ///< both at once, what issues the copies, and what the pipeline's depth and a cluster add
};

/// Of the problem as wgmmas see it (as_multiplied), with its geometry and how its tiles are dealt out; where DRAM
/// delivers no faster than one k-tile for each block in `dram_cycles`.
[[nodiscard]] KTileCycles k_tile_cycles(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                        const WgmmaGeometry& geometry, const StreamK& deal, const GpuModel& gpu,
                                        double dram_cycles, const WgmmaCosts& costs);

}  // namespace jitgemm
