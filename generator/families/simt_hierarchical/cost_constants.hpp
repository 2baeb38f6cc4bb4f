#pragma once

#include "generator/families/shared/cost_table.hpp"

namespace jitgemm {

/// The constants of the cost model of simt_hierarchical. Cycles are of the SM clock.
inline constexpr std::string_view kHierarchicalCostName = "simt_hierarchical";
inline constexpr auto kHierarchicalCostFields = std::to_array<CostField>({
    {"clock_share", "share", "The SM clock with f32 arithmetic, as a share of the GPU's clock."},
    {"fma_slots", "slots", "Issue slots of an fma with sums from the right."},
    {"left_fma_slots", "slots", "Issue slots of an fma with sums from the left, in large tiles."},
    {"even_fma_slots", "slots", "Issue slots of an fma with even columns first, in large tiles."},
    {"load_slots", "slots", "Issue slots of a load of four elements of a fragment."},
    {"copy_slots", "slots", "Issue slots of a copy, its address and predicate included."},
    {"straight_cycles", "cycles", "The load-store unit copies a warp's neighbours along M or N."},
    {"transposed_cycles", "cycles", "The load-store unit copies four neighbours along K of eight rows."},
    {"transposed8_cycles", "cycles", "The load-store unit copies eight neighbours along K of four rows."},
    {"lone_warp", "share", "Issue slots lost with one warp per scheduler; two warps lose a quarter of it."},
    {"barrier_cycles", "cycles", "The barrier of a k-tile, shared by the blocks of an SM."},
    {"load_latency_cycles", "cycles", "Latency of a k-tile's loads, shared by the stages in flight."},
    {"l2_bytes_per_cycle", "bytes/cycle", "An SM receives sectors at this rate while all SMs read."},
    {"units_exponent", "exponent", "How sharply the slowest unit of an SM sets a k-tile's time."},
    {"cold_slots", "factor", "The first k-tile's slots count this much more: its instructions come from L2."},
    {"store_bytes_per_cycle", "bytes/cycle", "An SM stores sums in quads at this rate."},
    {"pair_bytes_per_cycle", "bytes/cycle", "An SM stores sums in pairs at this rate."},
    {"element_bytes_per_cycle", "bytes/cycle", "An SM stores single sums at this rate."},
    {"neighbour_bytes_per_cycle", "bytes/cycle", "An SM stores single sums side by side at this rate."},
    {"dram_share", "share", "DRAM's reached bandwidth, as a share of the datasheet's."},
    {"sum_exponent", "exponent", "How sharply the slower of SMs and DRAM sets the time: 1 adds them up."},
    {"launch_us", "us", "A launch, with the first k-tile's way and the drain."},
    {"reduce_us", "us", "The second entry of a split-K kernel, without its bytes."},
    {"partial_bytes_per_us", "bytes/us", "That entry reads partial sums at this rate."},
    {"add_partials_us", "us", "The second entry of a kernel that cuts tiles, without its bytes."},
    {"rest_us_per_byte", "us/byte", "Parts of cut tiles are stored, read and added to D."},
});
using HierarchicalCosts = Costs<kHierarchicalCostName, kHierarchicalCostFields>;

}  // namespace jitgemm
