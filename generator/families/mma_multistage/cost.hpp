#pragma once

#include "generator/families/family.hpp"
#include "generator/families/mma_multistage/cost_constants.hpp"
#include "generator/families/mma_multistage/geometry.hpp"

namespace jitgemm {

/// Configs worth considering for the problem; constraints not yet applied.
[[nodiscard]] std::vector<KernelConfig> mma_multistage_candidates(const GemmSpec& spec, const GpuModel& gpu);

/// Predicted time from waves, tensor-core rate, shared-memory and L2 traffic, DRAM bytes and fixed costs.
[[nodiscard]] CostEstimate mma_multistage_cost(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu);

/// The same of any kernel that has this geometry and works as such a config says: pipeline, tiles, splits.
[[nodiscard]] CostEstimate mma_pipeline_cost(const GemmSpec& spec, const MmaMultistageConfig& config,
                                             const MmaMultistageGeometry& geometry, const GpuModel& gpu);

/// What the cost of such a kernel follows from, GPU and constants aside. `spec` is resolved.
struct MmaCostInputs {
    GemmSpec spec;
    GemmSignature signature;
    MmaMultistageConfig config;
    MmaMultistageGeometry geometry;
    double conflicts = 1;  ///< slowdown of shared memory
};
[[nodiscard]] MmaCostInputs mma_cost_inputs(const GemmSpec& spec, const MmaMultistageConfig& config,
                                            const MmaMultistageGeometry& geometry);

/// The cost with other constants than the table's, for who fits them.
[[nodiscard]] CostEstimate mma_pipeline_cost(const MmaCostInputs& inputs, const GpuModel& gpu,
                                             const MmaCostConstants& constants);

}  // namespace jitgemm
