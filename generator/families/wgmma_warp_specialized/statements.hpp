#pragma once

#include "generator/base/renderer.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/tile_operands.hpp"

namespace jitgemm {

/// Whether multiplying warpgroups take registers from the copying one. A single warpgroup has enough.
[[nodiscard]] bool deals_out_registers(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

/// The generated includes that hold statements of the kernel. An include is empty if the kernel has none.
void add_statements(RenderInput& input, const TileOperands& operands, const WgmmaWarpSpecializedConfig& config,
                    const WgmmaGeometry& geometry);

}  // namespace jitgemm
