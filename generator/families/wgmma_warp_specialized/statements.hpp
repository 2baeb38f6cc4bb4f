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
    ring,       ///< TMA copies it behind the k-tiles of its tile
    broadcast,  ///< one row, which a warp reads while its last wgmmas are at work
};

[[nodiscard]] SourceOfC source_of_c(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

/// Whether warpgroups that multiply take registers from the one that copies. A single one has enough as it is.
[[nodiscard]] bool deals_out_registers(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

/// The generated includes that hold statements of the kernel. An include is empty where the kernel has none.
void add_statements(RenderInput& input, const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

}  // namespace jitgemm
