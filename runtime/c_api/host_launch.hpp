#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"

namespace jitgemm::c_api {

/// Launches a kernel of the emulator on the program's own arrays. The inputs are copied in, and D is copied out; a
/// workspace stays as it is. Each matrix has its own buffer, so that an access beyond its last element is a fault. The
/// gaps between rows are neither read nor written. Throws the errors of GemmKernel::launch.
void launch_on_host(const GemmKernel& kernel, const GemmArguments& arguments);

}  // namespace jitgemm::c_api
