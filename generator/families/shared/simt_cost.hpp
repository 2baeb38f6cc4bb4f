#pragma once

#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"
#include "generator/families/shared/simt_tiling.hpp"

namespace jitgemm {

/// Rates of the units and how the grid fills the SMs; nothing is fitted to timings. It orders candidates.
[[nodiscard]] CostEstimate simt_cost(const Problem& problem, const SimtTiling& tiling, const GpuModel& gpu);

}  // namespace jitgemm
