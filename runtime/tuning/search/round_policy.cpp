#include "runtime/tuning/search/round_policy.hpp"

#include <cstdint>

namespace jitgemm::tuning {

bool spoils_round(const DeviceReading& reading) {
    // Of NVML's clocks event reasons: hardware slowdown, software and hardware thermal slowdown, power brake.
    constexpr std::uint64_t kSlowdowns = 0x08 | 0x20 | 0x40 | 0x80;
    return (reading.throttle & kSlowdowns) != 0;
}

bool is_thrown_away(const DeviceReading& reading, int repeats) {
    return repeats < kMostRepeats && spoils_round(reading);
}

}  // namespace jitgemm::tuning
