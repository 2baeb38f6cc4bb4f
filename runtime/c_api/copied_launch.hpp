#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"

namespace jitgemm::c_api {

/// Launches a GPU's kernel on arrays in host memory. The inputs are copied to the GPU, and D is copied back after the
/// launch. The gaps between rows are not written, because they may belong to another thread. Throws the errors of
/// GemmKernel::launch.
void launch_on_copies(const GemmKernel& kernel, const GemmArguments& arguments);

}  // namespace jitgemm::c_api
