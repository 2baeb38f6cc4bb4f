#include "runtime/verify/interval.hpp"

#include "runtime/verify/reference_arguments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace jitgemm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHalfUnit = 0x1p-24;         // of f32, relative
constexpr double kHalfOfSmallest = 0x1p-150;  // of f32's subnormals
constexpr double kRoundsToInfinity = 0x1.ffffffp+127;
constexpr double kLargestE5m2 = 57344;

bool is_f32(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

double half_unit(double value) { return std::max(std::fabs(value) * kHalfUnit, kHalfOfSmallest); }

/// The double operations round, too.
double down(double value) {
    if (std::isinf(value)) return value;
    const double moved = std::nextafter(value - half_unit(value), -kInfinity);
    return moved <= -kRoundsToInfinity ? -kInfinity : moved;
}
double up(double value) { return -down(-value); }

Interval always_nan() { return {.low = kInfinity, .high = -kInfinity, .may_be_nan = true, .is_exact = false}; }

bool contains_zero(const Interval& value) { return value.low <= 0 && value.high >= 0; }
bool reaches_infinity(const Interval& value) { return value.low == -kInfinity || value.high == kInfinity; }

/// Of an operation that is monotone in each argument: the ends give the ends.
template <typename Operation>
Interval over_ends(const Interval& left, const Interval& right, Operation operation) {
    if (left.is_empty() || right.is_empty()) return always_nan();
    const std::array ends{operation(left.low, right.low), operation(left.low, right.high),
                          operation(left.high, right.low), operation(left.high, right.high)};
    if (std::ranges::any_of(ends, [](double end) { return std::isnan(end); })) return anything();
    const auto [low, high] = std::ranges::minmax(ends);
    return rounded_outward(low, high, left.may_be_nan || right.may_be_nan);
}

/// One number where the operation does not round in f32; else `otherwise`.
Interval exact_or(const Interval& left, const Interval& right, double value, bool is_right, const Interval& otherwise) {
    const bool is_exact = left.is_exact && right.is_exact && is_right && std::isfinite(value) && is_f32(value);
    return is_exact ? exactly(value) : otherwise;
}

double as_element(double value, DataType type) {
    const bool is_integer = type == DataType::s8 || type == DataType::s32;
    if (std::isnan(value)) return is_integer ? 0 : value;
    if (type == DataType::f32) return static_cast<double>(static_cast<float>(value));
    if (type == DataType::e5m2) value = std::clamp(value, -kLargestE5m2, kLargestE5m2);
    const int number = static_cast<int>(type);
    const double element = device_code::decode(device_code::encode(value, number), number);
    return type == DataType::s32 ? static_cast<double>(static_cast<float>(element)) : element;
}

}  // namespace

bool Interval::contains(double value) const { return std::isnan(value) ? may_be_nan : low <= value && value <= high; }

Interval exactly(double value) {
    if (std::isnan(value)) return always_nan();
    return {.low = value, .high = value, .may_be_nan = false, .is_exact = true};
}

Interval around(double value, double bound) {
    if (bound == 0 && is_f32(value)) return exactly(value);
    if (std::isnan(value) || std::isnan(bound)) return anything();
    return rounded_outward(value - bound, value + bound, false);
}

Interval anything() { return {.low = -kInfinity, .high = kInfinity, .may_be_nan = true, .is_exact = false}; }

Interval hull(const Interval& left, const Interval& right) {
    const bool is_exact = left.is_exact && right.is_exact && left.low == right.low;
    return {.low = std::min(left.low, right.low),
            .high = std::max(left.high, right.high),
            .may_be_nan = left.may_be_nan || right.may_be_nan,
            .is_exact = is_exact};
}

Interval rounded_outward(double low, double high, bool may_be_nan) {
    return {.low = down(low), .high = up(high), .may_be_nan = may_be_nan, .is_exact = false};
}

Interval operator-(const Interval& value) {
    return {.low = -value.high, .high = -value.low, .may_be_nan = value.may_be_nan, .is_exact = value.is_exact};
}

Interval operator+(const Interval& left, const Interval& right) {
    const Interval sum = over_ends(left, right, [](double x, double y) { return x + y; });
    const double value = left.low + right.low;
    const bool is_right = value - left.low == right.low && value - right.low == left.low;
    return exact_or(left, right, value, is_right, sum);
}

Interval operator-(const Interval& left, const Interval& right) { return left + -right; }

Interval operator*(const Interval& left, const Interval& right) {
    const bool meets_infinity =
        (contains_zero(left) && reaches_infinity(right)) || (contains_zero(right) && reaches_infinity(left));
    if (meets_infinity && !left.is_empty() && !right.is_empty()) return anything();
    const Interval product = over_ends(left, right, [](double x, double y) { return x * y; });
    return exact_or(left, right, left.low * right.low, true, product);
}

Interval operator/(const Interval& left, const Interval& right) {
    if (left.is_empty() || right.is_empty()) return always_nan();
    if (contains_zero(right)) return anything();
    const Interval quotient = over_ends(left, right, [](double x, double y) { return x / y; });
    const double value = left.low / right.low;
    return exact_or(left, right, value, value * right.low == left.low, quotient);
}

Interval rounded_to(const Interval& value, DataType type) {
    const double of_nan = as_element(std::numeric_limits<double>::quiet_NaN(), type);
    Interval rounded{.low = kInfinity, .high = -kInfinity, .may_be_nan = false, .is_exact = false};
    if (!value.is_empty())
        rounded = {.low = as_element(value.low, type), .high = as_element(value.high, type), .may_be_nan = false};
    if (value.may_be_nan) rounded = hull(rounded, exactly(of_nan));
    rounded.is_exact = rounded.low == rounded.high && !rounded.may_be_nan;
    return rounded;
}

Undecided is_less(const Interval& left, const Interval& right) {
    const bool has_nan = left.may_be_nan || right.may_be_nan;
    if (left.is_empty() || right.is_empty()) return {false, true};
    return {left.low < right.high, left.high >= right.low || has_nan};
}

Undecided is_less_or_equal(const Interval& left, const Interval& right) {
    const bool has_nan = left.may_be_nan || right.may_be_nan;
    if (left.is_empty() || right.is_empty()) return {false, true};
    return {left.low <= right.high, left.high > right.low || has_nan};
}

Undecided is_equal(const Interval& left, const Interval& right) {
    const bool has_nan = left.may_be_nan || right.may_be_nan;
    if (left.is_empty() || right.is_empty()) return {false, true};
    const bool are_points = left.low == left.high && right.low == right.high;
    const bool overlap = left.low <= right.high && right.low <= left.high;
    return {overlap, !(overlap && are_points) || has_nan};
}

}  // namespace jitgemm
