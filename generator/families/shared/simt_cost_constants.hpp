#pragma once

#include "generator/families/shared/cost_table.hpp"

namespace jitgemm {

/// Of the families to learn from. They are orders of magnitude and are not fitted.
inline constexpr std::string_view kSimtCostName = "simt_ladder";
inline constexpr auto kSimtCostFields = std::to_array<CostField>({
    {"launch_us", "us", "A launch."},
    {"load_latency_cycles", "cycles", "Latency of a lone warp's loads in one step of K."},
    {"unrolled_steps", "steps", "Steps of K whose loads are in flight together."},
    {"global_latency_cycles", "cycles", "A panel with its barriers, and a tile's first loads and its stores."},
});
using SimtCosts = Costs<kSimtCostName, kSimtCostFields>;

}  // namespace jitgemm
