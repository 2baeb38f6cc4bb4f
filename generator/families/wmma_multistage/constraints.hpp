#pragma once

#include "generator/arch.hpp"
#include "generator/kernel_config.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// Why wmma_multistage cannot serve the problem whatever its config; empty when it can.
[[nodiscard]] std::vector<std::string> wmma_multistage_unsupported(const GemmSpec& spec, const Arch& arch);

/// All rules a config breaks for the problem, each with its numbers.
[[nodiscard]] std::vector<std::string> wmma_multistage_violations(const GemmSpec& spec, const KernelConfig& config,
                                                                  const Arch& arch);

/// None: what its ingredients cost when left out is what the family is there to show.
[[nodiscard]] std::vector<std::string> wmma_multistage_objections(const GemmSpec& spec, const KernelConfig& config);

}  // namespace jitgemm
