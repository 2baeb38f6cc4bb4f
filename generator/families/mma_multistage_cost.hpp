#pragma once

#include "generator/families/family.hpp"
#include "generator/families/mma_multistage_geometry.hpp"

namespace jitgemm {

/// Configs worth considering for the problem; constraints not yet applied.
[[nodiscard]] std::vector<KernelConfig> mma_multistage_candidates(const GemmSpec& spec, const Arch& arch);

/// Predicted time from waves, tensor-core rate, shared-memory and L2 traffic, DRAM bytes and fixed costs.
[[nodiscard]] CostEstimate mma_multistage_cost(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu);

/// The same of any kernel that has this geometry and works as such a config says: pipeline, tiles, splits.
[[nodiscard]] CostEstimate mma_pipeline_cost(const GemmSpec& spec, const MmaMultistageConfig& config,
                                             const MmaMultistageGeometry& geometry, const GpuModel& gpu);

}  // namespace jitgemm
