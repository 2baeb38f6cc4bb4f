#pragma once

namespace jitgemm {

/// What L2 and DRAM move at once.
inline constexpr double kSectorBytes = 32;

/// Four sectors that L2 keeps together, and that a warp asks for at once.
inline constexpr int kLineBytes = 128;

}  // namespace jitgemm
