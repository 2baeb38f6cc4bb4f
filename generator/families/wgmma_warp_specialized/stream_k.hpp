#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"

namespace jitgemm {

/// The deal of a config with stream_k. It may break any rule: nonsense counts as one cluster.
[[nodiscard]] StreamK stream_k(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& config);
/// The deal of any config. Without stream_k, the clusters that the GPU holds at once take whole tiles.
[[nodiscard]] StreamK tile_deal(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& config, const GpuModel& gpu);

}  // namespace jitgemm
