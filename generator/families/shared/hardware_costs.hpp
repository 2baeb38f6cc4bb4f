#pragma once

#include "generator/families/shared/cost_table.hpp"

namespace jitgemm {

/// Facts of the GPU that several models use. They are not fitted.
inline constexpr std::string_view kHardwareCostName = "hardware";
inline constexpr auto kHardwareCostFields = std::to_array<CostField>({
    {"tpc_bytes_per_cycle", "bytes/cycle", "The two SMs of a TPC share a way to L2 of this rate."},
    {"wgmma_shared_bytes_per_cycle", "bytes/cycle", "wgmmas read operands from shared memory at this rate."},
    {"schedulers", "count", "Schedulers of an SM. Each issues one instruction per cycle."},
    {"l2_bytes_per_cycle", "bytes/cycle", "An SM reads L2 at this rate at most."},
    {"mma_cycles", "cycles", "A tensor core takes this long for one mma.sync."},
    {"special_per_cycle", "1/cycle", "Special functions (exp, rsqrt) that an SM computes per cycle."},
    {"others_per_cycle", "1/cycle", "Other instructions of an epilogue that an SM's lanes execute per cycle."},
    {"conversions_per_cycle", "1/cycle", "Conversions of f32 to a narrower type that an SM computes per cycle."},
    {"reducing_entry_us", "us", "An entry that combines the parts of a reduction, without its bytes."},
    {"early_launch_us", "us", "A launch saves this time when it may begin while the previous kernel ends."},
    {"idle_sms_us", "us", "Such a launch saves this much more if the previous kernel left all SMs idle."},
});
using HardwareCosts = Costs<kHardwareCostName, kHardwareCostFields>;

/// A launch that begins while the previous kernel ends saves this time, because that kernel, like this one, left SMs
/// without a block.
[[nodiscard]] inline double idle_sms_us(double blocks, const GpuModel& gpu) {
    return HardwareCosts::of(gpu)["idle_sms_us"] * std::max(0.0, 1 - blocks / gpu.sm_count);
}

}  // namespace jitgemm
