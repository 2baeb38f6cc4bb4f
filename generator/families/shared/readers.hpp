#pragma once

#include "generator/base/round_up.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace jitgemm {

/// The number of blocks that fetch each byte of an operand. They lie along the other operand's extent, and `shares`
/// blocks share one fetch.
[[nodiscard]] inline double readers(std::int64_t extent, int block, int shares = 1) {
    return static_cast<double>(
        std::max<std::int64_t>(1, ceil_div(ceil_div<std::int64_t>(extent, block), std::int64_t{shares})));
}

/// first_share() of less than 64 readers.
inline constexpr auto kFirstShares = [] {
    std::array<double, 64> shares{};
    double missed = 1;  // 2 to the power of minus the readers
    for (std::size_t readers = 1; readers < shares.size(); ++readers) {
        missed /= 2;
        shares[readers] = 2 * (1 - missed) / static_cast<double>(readers);
    }
    return shares;
}();

/// The part of an operand's fetches that miss their half of L2: the first fetch in each half, with readers in either
/// half by chance. A byte with one reader misses once; a byte with 64 readers misses twice.
[[nodiscard]] inline double first_share(double readers) {
    return readers < static_cast<double>(kFirstShares.size()) ? kFirstShares[static_cast<std::size_t>(readers)]
                                                              : 2 / readers;
}

}  // namespace jitgemm
