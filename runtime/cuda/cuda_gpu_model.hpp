#pragma once

#include "generator/base/arch.hpp"
#include "runtime/cuda/driver.hpp"

namespace jitgemm {

/// The device as the cost model sees it: what the driver tells of it, and of a GPU in the table the sustained clock and
/// DRAM rate known there. Throws SpecError when no architecture of the table serves its compute capability.
[[nodiscard]] GpuModel read_gpu_model(CUdevice device);

}  // namespace jitgemm
