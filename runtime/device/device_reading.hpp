#pragma once

#include <cstdint>

namespace jitgemm::tuning {

/// Clocks, power and why the clock is held down, read through NVML. Zeros where NVML is absent.
/// `throttle` is NVML's bit mask of clocks event reasons (nvml.h, nvmlClocksEventReason*).
struct DeviceReading {
    int sm_clock_mhz = 0;
    int memory_clock_mhz = 0;
    double power_watts = 0;
    int temperature_c = 0;
    std::uint64_t throttle = 0;
    friend bool operator==(const DeviceReading&, const DeviceReading&) = default;
};

/// Of the GPU of that ordinal, as the driver counts; what NVML does not tell stays zero.
[[nodiscard]] DeviceReading read_device(int ordinal);

}  // namespace jitgemm::tuning
