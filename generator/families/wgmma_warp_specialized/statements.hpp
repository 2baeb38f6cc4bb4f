#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"

#include <cstdint>

namespace jitgemm {

/// How the consumers of a kernel get C.
enum class SourceOfC : std::uint8_t {
    none,       ///< there is no C, or stores read its elements
    ring,       ///< TMA copies it after the k-tiles of its tile
    broadcast,  ///< one row, which a warp reads while its last wgmmas run
};

[[nodiscard]] SourceOfC source_of_c(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

/// Whether multiplying warpgroups take registers from the copying one. A single warpgroup has enough.
[[nodiscard]] bool deals_out_registers(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

/// The generated includes that hold statements of the kernel. An include is empty if the kernel has none.
void add_statements(RenderInput& input, const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

}  // namespace jitgemm
