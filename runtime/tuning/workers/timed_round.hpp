#pragma once

#include "runtime/device/device_reading.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"

#include <functional>

namespace jitgemm::tuning {

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
