#pragma once

#include "generator/families/kernel_config.hpp"

#include <string>

namespace jitgemm::tuning {

/// The config of a canonical kernel name. Throws ConfigError when the name is malformed, or of a kernel that computes
/// something else than the (resolved) spec.
[[nodiscard]] KernelConfig config_of_kernel(const GemmSpec& spec, const std::string& kernel);

}  // namespace jitgemm::tuning
