#pragma once

#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

#include <cstdint>

namespace jitgemm {

/// SM cycles that a block takes for a k-tile.
struct KTileCycles {
    double multiply;  ///< of the tensor cores
    double fetch;     ///< for the loads from L2
    double all;       ///< for both together, with the issue of copies and the costs of pipeline depth and clusters
};

/// The cycles for the problem as wgmmas see it (as_multiplied), with its geometry and the deal of its tiles. DRAM
/// delivers one k-tile for each block in `dram_cycles` at best.
[[nodiscard]] KTileCycles k_tile_cycles(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                        const WgmmaGeometry& geometry, const StreamK& deal, const GpuModel& gpu,
                                        double dram_cycles, const WgmmaCosts& costs);

/// KTileCycles::multiply. N below 64 is bound by what wgmmas read there. With one set of partial sums, a consumer adds
/// them while the tensor cores have another one's wgmmas to do.
[[nodiscard]] double multiply_cycles(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry,
                                     const HardwareCosts& hardware, const WgmmaCosts& costs);

/// L2's work for rows of this pitch, relative to rows that begin with a line. Other rows of 128 bytes lie in two
/// lines, and in five sectors if they begin within a sector.
[[nodiscard]] double line_work(std::int64_t pitch_bytes, const WgmmaCosts& costs);

}  // namespace jitgemm
