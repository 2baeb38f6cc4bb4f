#pragma once

#include "runtime/device/device_reading.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"

#include <cstdint>
#include <functional>

namespace jitgemm::tuning {

// ---- which rounds count ---------------------------------------------------------------------------------------------

/// Whether there was a thermal or hardware slowdown: the round then measures the machine's cooling and supply, not the
/// kernels. The software power cap does not count, because large problems run at it, and all kernels alike.
[[nodiscard]] inline bool spoils_round(const DeviceReading& reading) {
    // NVML's clocks event reasons for hardware slowdown, software and hardware thermal slowdown, and power brake.
    constexpr std::uint64_t kSlowdowns = 0x08 | 0x20 | 0x40 | 0x80;
    return (reading.throttle & kSlowdowns) != 0;
}

/// A round is repeated at most this often. The last repetition counts in any case.
inline constexpr int kMostRepeats = 3;

/// Whether a round with this reading before or after it is measured again, after `repeats` repetitions.
[[nodiscard]] inline bool is_thrown_away(const DeviceReading& reading, int repeats) {
    return repeats < kMostRepeats && spoils_round(reading);
}

// ---- a round --------------------------------------------------------------------------------------------------------

/// The device's part in a round.
struct RoundDevice {
    std::function<DeviceReading()> read;
    std::function<double(std::size_t)> microseconds;            ///< one launch of TimeJob::kernels[i], measured now
    std::function<double(std::size_t)> sustained_microseconds;  ///< by the sustained protocol, for a job that wants it
    std::function<void()> rest;                                 ///< lets the device cool
};

/// Measures round `number` (0 ... TimeJob::rounds - 1) of a job: every kernel once. Each turn is announced, and its
/// sample is reported at once. The whole round is repeated while a slowdown spoils it. The samples of a round that was
/// spoilt before it began are not reported. It ends after the current turn if the observer wants it stopped. Returns
/// the number of discarded rounds.
int measure_round(const TimeJob& job, int number, const RoundDevice& device, TimingObserver& observer);

}  // namespace jitgemm::tuning
