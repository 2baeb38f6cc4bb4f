#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"

#include <string>
#include <vector>

namespace jitgemm::python {

/// "cuda:0", "emulator:sm_80"
[[nodiscard]] std::string device_of(const GemmKernel& kernel);

/// The JSON of jg_kernel_query(..., "json", ...).
[[nodiscard]] std::string kernel_json(const GemmKernel& kernel);

/// One object per entry, as `jitgemm dump --json` has it, with the number of its blocks for this problem and device.
[[nodiscard]] std::string launches_json(const GemmKernel& kernel);

/// The argument struct of each entry, in host byte order. Throws SpecError as a launch does.
[[nodiscard]] std::vector<std::string> packed_arguments(const GemmKernel& kernel, const GemmArguments& arguments);

}  // namespace jitgemm::python
