#pragma once

namespace jitgemm {

/// Bytes that L2 and DRAM move at once.
inline constexpr double kSectorBytes = 32;

/// Bytes of four sectors. L2 keeps them together, and a warp requests them at once.
inline constexpr int kLineBytes = 128;

}  // namespace jitgemm
