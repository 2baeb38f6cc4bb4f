#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"

#include <optional>

namespace jitgemm {

/// Whether the time is that of writing D: K is short, and L2 doesn't hold D. Then the order of tiles decides it.
[[nodiscard]] bool is_bound_by_writes(const GemmSpec& spec, const GpuModel& gpu);

/// Of a row of D, the share that tiles in flight at once write.
[[nodiscard]] double row_in_flight(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                   const StreamK& deal);

/// How much longer DRAM takes for D than to read as much; 1 for a problem that isn't bound by writes.
[[nodiscard]] double write_slowdown(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                    const StreamK& deal, const GpuModel& gpu, const WgmmaCosts& costs);

/// Of a problem that is bound by writes, the config with tiles of one row of D behind each other, where that has more
/// of it in flight and L2 holds the operand that each row of tiles reads anew.
[[nodiscard]] std::optional<WgmmaWarpSpecializedConfig> along_rows(const GemmSpec& multiplied,
                                                                   WgmmaWarpSpecializedConfig config,
                                                                   const GpuModel& gpu);

}  // namespace jitgemm
