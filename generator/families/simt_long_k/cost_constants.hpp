#pragma once

#include "generator/families/shared/cost_table.hpp"

namespace jitgemm {

/// The constants of the cost model of simt_long_k. Cycles are of the SM clock.
inline constexpr std::string_view kLongKCostName = "simt_long_k";
inline constexpr auto kLongKCostFields = std::to_array<CostField>({
    {"clock_share", "share", "The SM clock with f32 arithmetic, as a share of the GPU's clock."},
    {"fma_slots", "slots", "Issue slots of an fma."},
    {"load_slots", "slots", "Issue slots of a load of a fragment."},
    {"copy_slots", "slots", "Issue slots of a copy, its address, predicate and queue included."},
    {"step_slots", "slots", "Further issue slots of four steps of K."},
    {"block_slots", "slots", "Further issue slots of a k-tile."},
    {"step_latency_cycles", "cycles", "A lone warp waits this long in four steps of K."},
    {"barrier_cycles", "cycles", "A lone warp waits this long at the barrier of a k-tile."},
    {"fragment_cycles", "cycles", "The load-store unit's time for a wavefront of a fragment."},
    {"copy_cycles", "cycles", "The load-store unit's time for a copy of 4 bytes per thread."},
    {"units_exponent", "exponent", "How sharply the slowest unit of an SM sets a k-tile's time."},
    {"sum_exponent", "exponent", "How sharply the slower of SMs and DRAM sets the time: 1 adds them up."},
    {"long_stage", "share", "Loss where the stages of an SM are twice as long as 16 KB."},
    {"spill_loss", "share", "Loss for each register that a thread lacks."},
    {"spill_aversion", "share", "Distrust of a kernel that may spill: it must promise this much to be chosen."},
    {"lone_block", "share", "Loss where no other block runs while one waits at its barrier."},
    {"dram_share", "share", "DRAM's reached bandwidth, as a share of the datasheet's."},
    {"both_entries_us", "us", "Both launches with the first k-tile and the drain."},
    {"both_early_us", "us", "The same where each launch begins while the previous kernel ends."},
    {"us_per_sum", "us/element", "A split's sum is stored and read."},
    {"us_per_reduce_block", "us/block", "A block of the second entry."},
});
using LongKCosts = Costs<kLongKCostName, kLongKCostFields>;

}  // namespace jitgemm
