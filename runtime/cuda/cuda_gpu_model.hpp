#pragma once

#include "generator/base/arch.hpp"
#include "runtime/cuda/driver.hpp"

#include <functional>

namespace jitgemm {

/// What a driver tells of a device's clocks; 0 where it has no answer.
struct DeviceRates {
    int clock_mhz = 0;
    double dram_bytes_per_second = 0;
};

/// `found` with the sustained clock and DRAM rate of the table's row of this very GPU. Of any other GPU with those
/// `told` tells, or a typical one's; only then is it called, as a driver takes milliseconds to look up clocks.
[[nodiscard]] GpuModel with_rates(GpuModel found, const std::function<DeviceRates()>& told);

/// The device as the cost model sees it: what the driver tells of it, and of a GPU in the table the sustained clock and
/// DRAM rate known there. Throws SpecError when no architecture of the table serves its compute capability.
[[nodiscard]] GpuModel read_gpu_model(CUdevice device);

}  // namespace jitgemm
