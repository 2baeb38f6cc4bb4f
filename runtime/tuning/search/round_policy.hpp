#pragma once

#include "runtime/device/device_reading.hpp"

/// \file Which rounds of a timing count.

namespace jitgemm::tuning {

/// A thermal or hardware slowdown: such a round says more of the machine's cooling and supply than of the kernels. The software power cap is none: large problems run at it, all kernels alike.
[[nodiscard]] bool spoils_round(const DeviceReading& reading);

/// A round is repeated at most that often; the last one counts whatever the device did.
inline constexpr int kMostRepeats = 3;

/// Whether a round with this reading before or after it is measured again, when it has been `repeats` times.
[[nodiscard]] bool is_thrown_away(const DeviceReading& reading, int repeats);

}  // namespace jitgemm::tuning
