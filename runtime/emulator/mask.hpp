#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

/// \file Lanes of a warp as a set of bits, and loops over the members of such a set.

namespace jitgemm::emulator {

inline constexpr int kLanes = 32;
using Mask = std::uint32_t;  ///< bit l: lane l
inline constexpr Mask kAllLanes = ~Mask{0};

/// function(index) for every bit that is set, in rising order.
template <typename Function>
inline void for_each_bit(std::uint32_t bits, const Function& function) {
    for (; bits != 0; bits &= bits - 1) function(static_cast<std::size_t>(std::countr_zero(bits)));
}

/// Whether predicate(index) holds for every bit that is set. It stops at the first bit for which it does not.
template <typename Predicate>
[[nodiscard]] inline bool all_of_bits(std::uint32_t bits, const Predicate& predicate) {
    for (; bits != 0; bits &= bits - 1) {
        if (!predicate(static_cast<std::size_t>(std::countr_zero(bits)))) return false;
    }
    return true;
}

}  // namespace jitgemm::emulator
