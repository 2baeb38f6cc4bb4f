#pragma once

#include "runtime/device/device_reading.hpp"

#include <cstdint>

/// \file Which rounds of a timing count.

namespace jitgemm::tuning {

/// A thermal or hardware slowdown: such a round says more of the machine's cooling and supply than of the kernels. The software power cap is none: large problems run at it, all kernels alike.
[[nodiscard]] inline bool spoils_round(const DeviceReading& reading) {
    // Of NVML's clocks event reasons: hardware slowdown, software and hardware thermal slowdown, power brake.
    constexpr std::uint64_t kSlowdowns = 0x08 | 0x20 | 0x40 | 0x80;
    return (reading.throttle & kSlowdowns) != 0;
}

/// A round is repeated at most that often; the last one counts whatever the device did.
inline constexpr int kMostRepeats = 3;

/// Whether a round with this reading before or after it is measured again, when it has been `repeats` times.
[[nodiscard]] inline bool is_thrown_away(const DeviceReading& reading, int repeats) {
    return repeats < kMostRepeats && spoils_round(reading);
}

}  // namespace jitgemm::tuning
