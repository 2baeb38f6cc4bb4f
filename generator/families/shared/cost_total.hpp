#pragma once

#include "generator/families/shared/cost_estimate.hpp"
#include "generator/families/shared/norm.hpp"

#include <limits>

namespace jitgemm {

/// The terms of a family's cost. Every model adds them up in the same way: add_total().
struct CostTerms {
    double launch_us = 0;   ///< launches, pipeline fill, last epilogue, reductions: no tile hides them
    double waves_us = 0;    ///< all waves of tiles: the norm() of the SMs' time and DRAM's
    double slowdown = 1;    ///< of launch and waves
    double packing_us = 0;  ///< an entry that packs operands before the product
    double power_bound_us = std::numeric_limits<double>::infinity();  ///< longer launches run at the power limit
};

/// Sets overhead_us and total_us. `power_slowdown()` is the factor of launches at the power limit; it is called for
/// them only.
template <typename PowerSlowdown>
void add_total(CostEstimate& cost, const CostTerms& terms, const PowerSlowdown& power_slowdown) {
    cost.overhead_us = terms.launch_us + terms.packing_us;
    cost.total_us = (terms.launch_us + terms.waves_us) * terms.slowdown + terms.packing_us;
    if (cost.total_us > terms.power_bound_us) cost.total_us *= power_slowdown();
}

inline void add_total(CostEstimate& cost, const CostTerms& terms) {
    add_total(cost, terms, [] { return 1.0; });
}

}  // namespace jitgemm
