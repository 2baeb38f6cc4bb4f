#pragma once

#include "generator/kernel_config.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// "block256x128x32_warp64x64_mma16x16x16_stages3_pad8_async1_cg_l2-128_db1_raster-zigzag_group16"
[[nodiscard]] std::string wmma_multistage_config_name(const GemmSignature& signature, const KernelConfig& config);
/// Throws ConfigError naming the token and what was expected there.
[[nodiscard]] KernelConfig parse_wmma_multistage_config_name(std::string_view name);

/// block, warp, mma, stages, padding, async, cache, l2_prefetch, double_buffer, rasterization, group
[[nodiscard]] ParameterMap wmma_multistage_parameters(const KernelConfig& config);
/// Throws ConfigError with every reason. A rasterization given without a group gets the group it needs.
[[nodiscard]] KernelConfig wmma_multistage_with_parameters(const KernelConfig& config, const ParameterMap& parameters);

}  // namespace jitgemm
