#pragma once

#include "generator/families/shared/cost_table.hpp"

namespace jitgemm {

/// The constants of the cost model of mma_sliced_k. Cycles are of the SM clock.
inline constexpr std::string_view kSlicedKCostName = "mma_sliced_k";
inline constexpr auto kSlicedKCostFields = std::to_array<CostField>({
    {"box_cycles", "cycles", "TMA fetches a box into an SM, without its lines."},
    {"line_cycles", "cycles", "TMA fetches a line of a box."},
    {"second_line", "share", "The cost of a row's second line of L2, as a share of the first one's."},
    {"bytes_per_cycle", "bytes/cycle", "An SM receives operands at this rate."},
    {"bytes_per_cycle_of_two", "bytes/cycle", "The same where the other SM of its TPC is at work, too."},
    {"dram_share", "share", "DRAM's reached bandwidth, as a share of the datasheet's."},
    {"cut_line_share", "factor", "Part of this bandwidth where rows begin within a line of L2."},
    {"cut_sector_share", "factor", "Part of this bandwidth where rows begin within a sector."},
    {"two_stages_share", "factor", "Part of this bandwidth with two stages."},
    {"few_warps_slowdown", "factor", "Slowdown of panels in blocks of four warps."},
    {"tile_cycles", "cycles", "The fixed time of a tile."},
    {"sums_per_cycle", "elements/cycle", "A tile adds up the sums of all warps at this rate."},
    {"ending_row_cycles", "cycles", "A row of the long operand within which K ends."},
    {"sum_exponent", "exponent", "How sharply the slower of an SM and DRAM sets the time: 1 adds them up."},
    {"launch_us", "us", "A launch that begins while the previous kernel ends."},
    {"early_us", "us", "A launch saves this time when it fetches first panels before the previous kernel has ended."},
    {"short_line_cycles", "cycles", "A short line of the few rows' operand, one for each k."},
    {"shared_line_cycles", "cycles", "Such a line takes this much longer where all SMs ask for it."},
    {"outside_line_cycles", "cycles", "Such a line takes this much longer where it lies partly outside the matrix."},
    {"first_lines_cycles", "cycles", "The first of these lines reach all SMs after this time."},
});
using SlicedKCosts = Costs<kSlicedKCostName, kSlicedKCostFields>;

}  // namespace jitgemm
