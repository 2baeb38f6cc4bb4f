#pragma once

#include "runtime/device/device_reading.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// \file Which rounds of a timing count.

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

/// A round is repeated at most that often; the last one counts whatever the device did.
inline constexpr int kMostRepeats = 3;

/// Whether a round with this reading before or after it is measured again, when it has been `repeats` times.
[[nodiscard]] bool is_thrown_away(const DeviceReading& reading, int repeats);

}  // namespace jitgemm::tuning
