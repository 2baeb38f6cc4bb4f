#pragma once

#include <concepts>

namespace jitgemm {

/// ⌈value / divisor⌉ of a value that is not negative; 0 if the divisor is not positive.
template <std::integral Value>
[[nodiscard]] constexpr Value ceil_div(Value value, Value divisor) {
    return divisor > 0 ? (value + divisor - 1) / divisor : Value{0};
}

/// The least multiple of `unit` that is at least `value`.
template <std::integral Value>
[[nodiscard]] constexpr Value round_up(Value value, Value unit) {
    return ceil_div(value, unit) * unit;
}

}  // namespace jitgemm
