#pragma once

#include "jitgemm/data_type.hpp"

#include <limits>

namespace jitgemm {

/// The values that a step of f32 arithmetic may have: all real numbers from `low` to `high`, and maybe NaN. A value
/// that is computed with fewer roundings lies within, too, so that it does not matter which products are fused.
struct Interval {
    double low = 0;
    double high = 0;
    bool may_be_nan = false;
    bool is_exact = true;  ///< one number, and the same in any order of computing: no step has rounded

    [[nodiscard]] bool is_empty() const { return low > high; }  ///< always NaN
    [[nodiscard]] bool contains(double value) const;
    [[nodiscard]] bool is_number(double value) const { return low == value && high == value && !may_be_nan; }
};

[[nodiscard]] Interval exactly(double value);
/// Of a sum whose error is at most `bound`.
[[nodiscard]] Interval around(double value, double bound);
/// Nothing is known.
[[nodiscard]] Interval anything();
/// Both.
[[nodiscard]] Interval hull(const Interval& left, const Interval& right);

[[nodiscard]] Interval operator-(const Interval& value);
[[nodiscard]] Interval operator+(const Interval& left, const Interval& right);
[[nodiscard]] Interval operator-(const Interval& left, const Interval& right);
[[nodiscard]] Interval operator*(const Interval& left, const Interval& right);
[[nodiscard]] Interval operator/(const Interval& left, const Interval& right);

/// Ends moved outward by half a unit in the last place of f32. Beyond the largest f32 lies infinity.
[[nodiscard]] Interval rounded_outward(double low, double high, bool may_be_nan);

/// As elements of a type, rounded to nearest even. 8-bit types saturate. One number that all values round to is exact.
[[nodiscard]] Interval rounded_to(const Interval& value, DataType type);

/// Whether a condition may hold, and whether it may not. A comparison with NaN does not hold, but for "!=".
struct Undecided {
    bool may_hold = false;
    bool may_fail = false;
};
[[nodiscard]] Undecided is_less(const Interval& left, const Interval& right);
[[nodiscard]] Undecided is_less_or_equal(const Interval& left, const Interval& right);
[[nodiscard]] Undecided is_equal(const Interval& left, const Interval& right);

}  // namespace jitgemm
