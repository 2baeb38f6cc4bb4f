#pragma once

#include "generator/kernel_config.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// "block128x256x32_warp64x64_mma16x8x16_ldsm4n.4n_stages4_sw64_db1_group8m_epi-smem_split1_pack-none"
[[nodiscard]] std::string mma_multistage_config_name(const GemmSignature& signature, const KernelConfig& config);
/// Throws ConfigError naming the token and what was expected there.
[[nodiscard]] KernelConfig parse_mma_multistage_config_name(std::string_view name);

/// block, warp, mma, stages, ldsm_a, ldsm_b, shared, double_buffer, rasterization, group, epilogue, split_k, pack
[[nodiscard]] ParameterMap mma_multistage_parameters(const KernelConfig& config);
/// Setting a block without a warp tile keeps the warp tile's own M and N. Throws ConfigError with every reason.
[[nodiscard]] KernelConfig mma_multistage_with_parameters(const KernelConfig& config, const ParameterMap& parameters);

}  // namespace jitgemm
