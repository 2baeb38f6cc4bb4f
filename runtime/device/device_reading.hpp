#pragma once

#include <cstdint>

namespace jitgemm::tuning {

/// Clocks, power and the reason for a lowered clock, from NVML; zeros without NVML. `throttle` is NVML's bit mask of
/// clocks event reasons (nvml.h, nvmlClocksEventReason*).
struct DeviceReading {
    int sm_clock_mhz = 0;
    int memory_clock_mhz = 0;
    double power_watts = 0;
    int temperature_c = 0;
    std::uint64_t throttle = 0;
    friend bool operator==(const DeviceReading&, const DeviceReading&) = default;
};

/// The reading of the GPU with the driver's ordinal. Values that NVML does not tell are zero.
[[nodiscard]] DeviceReading read_device(int ordinal);

}  // namespace jitgemm::tuning
