#pragma once

#include "generator/families/shared/cost_table.hpp"

namespace jitgemm {

/// The constants of the cost model of wmma_multistage. Cycles are of the SM clock.
inline constexpr std::string_view kWmmaCostName = "wmma_multistage";
inline constexpr auto kWmmaCostFields = std::to_array<CostField>({
    {"exposed_load_cycles", "cycles", "A k-tile's loads from L2 that nothing hides."},
    {"exposed_store_cycles", "cycles", "A k-tile's stores into shared memory that nothing hides."},
    {"short_blocks", "factor", "Slowdown of k-tiles below 64: two of 32 take longer than one of 64."},
});
using WmmaCosts = Costs<kWmmaCostName, kWmmaCostFields>;

}  // namespace jitgemm
