#pragma once

#include "runtime/tuning/device_reading.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// \file Which rounds of a timing count. Pure: reader, clock and device are the caller's.

namespace jitgemm::tuning {

/// Why a GPU runs slower than it could (nvml.h, nvmlClocksEventReason*).
struct ClocksEventReason {
    std::uint64_t bit;
    std::string_view name;
    bool spoils;  ///< a round measured under it says more of the machine's cooling and supply than of the kernels
};
[[nodiscard]] std::span<const ClocksEventReason> clocks_event_reasons();

/// A thermal or hardware slowdown. The software power cap is none: large problems run at it, all kernels alike.
[[nodiscard]] bool spoils_round(const DeviceReading& reading);
/// "SW power cap, HW thermal slowdown"; empty for 0. A bit without a name is given as a number.
[[nodiscard]] std::string throttle_text(std::uint64_t throttle);

/// One turn through all kernels, and the device around it.
struct Round {
    DeviceReading before;
    DeviceReading after;
    std::vector<double> us;
    int thrown_away = 0;  ///< turns before this one
};

/// A round is repeated at most that often; the last one counts whatever the device did.
inline constexpr int kMostRepeats = 3;

/// Measures until a turn is not spoilt. `rest` is called before each repetition, to let the device cool.
[[nodiscard]] Round unspoilt_round(const std::function<DeviceReading()>& read,
                                   const std::function<std::vector<double>()>& measure,
                                   const std::function<void()>& rest);

}  // namespace jitgemm::tuning
