#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"

#include <optional>

namespace jitgemm {

/// Whether writing D takes most of the time: K is short, and L2 does not hold D. The order of tiles then matters.
[[nodiscard]] bool is_bound_by_writes(const GemmSpec& spec, const GpuModel& gpu);

/// The part of a row of D that tiles in flight at once write.
[[nodiscard]] double row_in_flight(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                   const StreamK& deal);

/// DRAM's time for writing D over its time for reading as much; 1 for a problem that is not bound by writes.
[[nodiscard]] double write_slowdown(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                    const StreamK& deal, const GpuModel& gpu, const WgmmaCosts& costs);

/// For a problem bound by writes: the config that takes the tiles of one row of D one after the other. It is set if
/// more of the row is then in flight, and if L2 holds the operand that each row of tiles reads again.
[[nodiscard]] std::optional<WgmmaWarpSpecializedConfig> along_rows(const GemmSpec& multiplied,
                                                                   WgmmaWarpSpecializedConfig config,
                                                                   const GpuModel& gpu);

}  // namespace jitgemm
