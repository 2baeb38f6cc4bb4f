#pragma once

#include "generator/base/round_up.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace jitgemm {

/// The blocks that fetch each byte of an operand: so many lie along the other one's extent, of which `shares` share
/// what one fetches.
[[nodiscard]] inline double readers(std::int64_t extent, int block, int shares = 1) {
    return static_cast<double>(
        std::max<std::int64_t>(1, ceil_div(ceil_div<std::int64_t>(extent, block), std::int64_t{shares})));
}

/// Of an operand's fetches, those that find nothing in their half of L2: the first one in each half, where readers lie
/// in either by chance. A byte that one block reads is one of them, of 64 blocks only two are.
[[nodiscard]] inline double first_share(double readers) { return 2 * (1 - std::exp2(-readers)) / readers; }

}  // namespace jitgemm
