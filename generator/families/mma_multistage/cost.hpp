#pragma once

#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/mma_multistage/cost_constants.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"

namespace jitgemm {

/// The same of any kernel that has this geometry and works as such a config says: pipeline, tiles, splits.
[[nodiscard]] CostEstimate mma_pipeline_cost(const Problem& problem, const MmaMultistageConfig& config,
                                             const TensorCoreGeometry& geometry, const GpuModel& gpu);

/// What the cost of such a kernel follows from, GPU and constants aside.
struct MmaCostInputs {
    GemmSpec spec;
    GemmSignature signature;
    MmaMultistageConfig config;
    TensorCoreGeometry geometry;
    double conflicts = 1;  ///< slowdown of shared memory
};
[[nodiscard]] MmaCostInputs mma_cost_inputs(const Problem& problem, const MmaMultistageConfig& config,
                                            const TensorCoreGeometry& geometry);

/// The cost with other constants than the table's, for who fits them.
[[nodiscard]] CostEstimate mma_pipeline_cost(const MmaCostInputs& inputs, const GpuModel& gpu,
                                             const MmaCostConstants& constants);

}  // namespace jitgemm
