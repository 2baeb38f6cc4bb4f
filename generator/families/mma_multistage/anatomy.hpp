#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// What the kernel is made of, each choice with its reason. The config breaks no rule for the problem.
[[nodiscard]] KernelAnatomy mma_multistage_anatomy(const GemmSpec& spec, const KernelConfig& config);

}  // namespace jitgemm
