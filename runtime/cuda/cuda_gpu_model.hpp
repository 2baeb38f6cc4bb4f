#pragma once

#include "generator/base/arch.hpp"
#include "runtime/cuda/driver.hpp"

#include <functional>

namespace jitgemm {

/// A device's clocks from the driver; 0 if it has no answer.
struct DeviceRates {
    int clock_mhz = 0;
    double dram_bytes_per_second = 0;
};

/// `found` with a sustained clock and a DRAM rate. A GPU of the table gets its row's. Any other GPU gets the rates of
/// `told`, else those of a typical one. `told` is only called then, because a driver takes milliseconds for clocks.
[[nodiscard]] GpuModel with_rates(GpuModel found, const std::function<DeviceRates()>& told);

/// The device as the cost model sees it: the driver's data, and for a GPU of the table the row's sustained clock and
/// DRAM rate. Throws SpecError if no architecture of the table serves its compute capability.
[[nodiscard]] GpuModel read_gpu_model(CUdevice device);

}  // namespace jitgemm
