#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/emulator_device/emulator_cost.hpp"

namespace jitgemm {

/// The estimated time of one counted launch of this kernel with these scalars, on the GPU that its device stands for.
[[nodiscard]] EmulatedTime estimate_time(const emulator::Counters& counters, const GemmKernel& kernel, float alpha,
                                         float beta);

}  // namespace jitgemm
