#pragma once

#include "generator/base/sector.hpp"

#include <cstdint>
#include <numeric>

namespace jitgemm {

/// Rows of a matrix begin anywhere in a line of L2 that their pitch lets them. Of lines that a row would fill, the
/// share that lies in two: 0 where every row begins with a line, 7/8 where they begin at any multiple of 16 bytes.
[[nodiscard]] inline double second_line_share(std::int64_t pitch_bytes) {
    return 1 - static_cast<double>(std::gcd(pitch_bytes, kLineBytes)) / kLineBytes;
}

/// Four sectors' worth of such a row then lies in five.
[[nodiscard]] inline bool begins_within_sectors(std::int64_t pitch_bytes) {
    return pitch_bytes % static_cast<std::int64_t>(kSectorBytes) != 0;
}

}  // namespace jitgemm
