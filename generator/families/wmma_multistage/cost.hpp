#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// The well-known tiles and smaller ones, so that every problem finds one that fits; constraints not yet applied.
[[nodiscard]] std::vector<KernelConfig> wmma_multistage_candidates(const GemmSpec& spec, const GpuModel& gpu);

/// mma_multistage's model for the same tiles and pipeline; made to order this family's own configs.
[[nodiscard]] CostEstimate wmma_multistage_cost(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu);

}  // namespace jitgemm
