#pragma once

#include <algorithm>
#include <cstdint>

namespace jitgemm {

/// \file A config may ask for anything, because kernel names are read from files. Tiles whose products exceed 32 bits
/// are refused, and the numbers for the message must not wrap.

/// Counts stop here. It is far beyond every limit of a kernel, and products of two counts and sums of many stay exact
/// in 64 bits.
inline constexpr int kBeyondEveryLimit = 1 << 24;

[[nodiscard]] constexpr int bounded(std::int64_t count) {
    return static_cast<int>(std::clamp<std::int64_t>(count, 0, kBeyondEveryLimit));
}

/// The product of counts that are not negative.
[[nodiscard]] constexpr int bounded_product(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
    return bounded(std::int64_t{bounded(std::int64_t{bounded(a)} * bounded(b))} * bounded(c));
}

/// 0 if the divisor is not positive.
[[nodiscard]] constexpr int quotient_or_zero(int value, int divisor) { return divisor > 0 ? value / divisor : 0; }

}  // namespace jitgemm
