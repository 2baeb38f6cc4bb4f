#pragma once

namespace jitgemm {

/// What L2 and DRAM move at once.
inline constexpr double kSectorBytes = 32;

}  // namespace jitgemm
