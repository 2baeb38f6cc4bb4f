#pragma once

#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/mma_multistage/cost_constants.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"

namespace jitgemm {

/// The predicted time of any kernel that has this geometry and works as such a config says: pipeline, tiles, splits.
[[nodiscard]] CostEstimate mma_pipeline_cost(const Problem& problem, const MmaMultistageConfig& config,
                                             const TensorCoreGeometry& geometry, const GpuModel& gpu,
                                             const MmaCosts& costs);

}  // namespace jitgemm
