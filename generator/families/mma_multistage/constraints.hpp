#pragma once

#include "generator/arch.hpp"
#include "generator/kernel_config.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// Why mma_multistage can't serve the problem whatever the config: types, architecture, extents.
[[nodiscard]] std::vector<std::string> mma_multistage_unsupported(const GemmSpec& spec, const Arch& arch);

/// Every rule the config breaks for the problem on the architecture, each with its numbers.
[[nodiscard]] std::vector<std::string> mma_multistage_violations(const GemmSpec& spec, const KernelConfig& config,
                                                                 const Arch& arch);

}  // namespace jitgemm
