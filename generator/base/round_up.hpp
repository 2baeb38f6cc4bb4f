#pragma once

#include <concepts>

namespace jitgemm {

/// ⌈value / divisor⌉ of a value that is not negative; 0 if the divisor is not positive.
template <std::integral Value>
[[nodiscard]] constexpr Value ceil_div(Value value, Value divisor) {
    if (divisor <= 0) return Value{0};
    return value / divisor + (value % divisor != 0 ? Value{1} : Value{0});  // value + divisor might overflow
}

/// The least multiple of `unit` that is at least `value`.
template <std::integral Value>
[[nodiscard]] constexpr Value round_up(Value value, Value unit) {
    return ceil_div(value, unit) * unit;
}

}  // namespace jitgemm
