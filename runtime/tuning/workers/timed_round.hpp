#pragma once

#include "runtime/device/device_reading.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"

#include <cstdint>
#include <functional>

namespace jitgemm::tuning {

// ---- which rounds count ---------------------------------------------------------------------------------------------

/// A thermal or hardware slowdown: such a round says more of the machine's cooling and supply than of the kernels. The
/// software power cap is none: large problems run at it, all kernels alike.
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

// ---- a round --------------------------------------------------------------------------------------------------------

/// What a round needs of the device.
struct RoundDevice {
    std::function<DeviceReading()> read;
    std::function<double(std::size_t)> microseconds;            ///< one launch of TimeJob::kernels[i], measured now
    std::function<double(std::size_t)> sustained_microseconds;  ///< by the sustained protocol; of a job that wants it
    std::function<void()> rest;                                 ///< lets the device cool
};

/// Round `number` (0 ... TimeJob::rounds - 1) of a job: every kernel once, each turn announced and its sample told as
/// soon as it is there; the whole round again while a slowdown spoils it. A round spoilt before it began counts for
/// nothing whatever follows, so its samples are not told. Ends after the turn under way when the observer wants it
/// stopped. Returns how often it was thrown away.
int measure_round(const TimeJob& job, int number, const RoundDevice& device, TimingObserver& observer);

}  // namespace jitgemm::tuning
