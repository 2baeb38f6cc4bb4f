#pragma once

#include "generator/base/kernel_source.hpp"

#include <vector>

namespace jitgemm {

/// The fields of GemmArgs in templates/gemm_args.cuh, in order.
[[nodiscard]] std::vector<KernelArgument> gemm_arguments(bool has_c, bool has_workspace);

}  // namespace jitgemm
