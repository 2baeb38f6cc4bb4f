#pragma once

#include <concepts>

namespace jitgemm {

/// ⌈value / divisor⌉ of what is not negative; 0 where the divisor is not positive.
template <std::integral Value>
[[nodiscard]] constexpr Value ceil_div(Value value, Value divisor) {
    return divisor > 0 ? (value + divisor - 1) / divisor : Value{0};
}

/// The least multiple of `unit` that is no less.
template <std::integral Value>
[[nodiscard]] constexpr Value round_up(Value value, Value unit) {
    return ceil_div(value, unit) * unit;
}

}  // namespace jitgemm
