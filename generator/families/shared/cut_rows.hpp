#pragma once

#include "generator/base/sector.hpp"

#include <cstdint>
#include <numeric>

namespace jitgemm {

/// A row of a matrix may begin anywhere in a line of L2 that its pitch allows. The result is the part of a row's lines
/// that cover two lines: 0 if every row begins with a line, and 7/8 if rows begin at any multiple of 16 bytes.
[[nodiscard]] inline double second_line_share(std::int64_t pitch_bytes) {
    return 1 - static_cast<double>(std::gcd(pitch_bytes, kLineBytes)) / kLineBytes;
}

/// Whether four sectors' worth of a row lies in five sectors.
[[nodiscard]] inline bool begins_within_sectors(std::int64_t pitch_bytes) {
    return pitch_bytes % static_cast<std::int64_t>(kSectorBytes) != 0;
}

}  // namespace jitgemm
