#pragma once

#include <chrono>

namespace jitgemm::tuning {

/// Whoever waits for a compile, a worker or the device looks up this often: at the clock and for Ctrl-C.
inline constexpr std::chrono::milliseconds kLookInterval{100};

}  // namespace jitgemm::tuning
