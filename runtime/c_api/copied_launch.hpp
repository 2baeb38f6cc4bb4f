#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"

namespace jitgemm::c_api {

/// Launches a GPU's kernel on arrays in host memory: what the launch reads is copied to the GPU, and D back when it has
/// ended. The gaps between rows are not written: they may be another thread's. Throws what GemmKernel::launch does.
void launch_on_copies(const GemmKernel& kernel, const GemmArguments& arguments);

}  // namespace jitgemm::c_api
