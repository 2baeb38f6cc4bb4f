#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"

namespace jitgemm::c_api {

/// Launches a kernel of the emulator on arrays of the program's own: what the launch reads is copied in, D out; a
/// workspace stays as it is. Each matrix is a buffer for itself, so that an access beyond its last element is a fault.
/// The gaps between rows are neither read nor written. Throws what GemmKernel::launch does.
void launch_on_host(const GemmKernel& kernel, const GemmArguments& arguments);

}  // namespace jitgemm::c_api
