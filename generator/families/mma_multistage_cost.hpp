#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// Configs worth considering for the problem; constraints not yet applied.
[[nodiscard]] std::vector<KernelConfig> mma_multistage_candidates(const GemmSpec& spec, const Arch& arch);

/// Predicted time from waves, tensor-core rate, shared-memory and L2 traffic, DRAM bytes and fixed costs.
[[nodiscard]] CostEstimate mma_multistage_cost(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu);

}  // namespace jitgemm
