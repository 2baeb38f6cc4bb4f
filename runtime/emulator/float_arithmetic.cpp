#include "runtime/emulator/float_arithmetic.hpp"

#include "runtime/emulator/float_value.hpp"

#include <algorithm>
#include <stdexcept>

namespace jitgemm::emulator {
namespace {

using Kind = FloatValue::Kind;

constexpr FloatValue kNan{Kind::nan, false, 0, 0};

const FloatFormat& arithmetic_format(FloatType type) {
    if (type == FloatType::tf32 || type == FloatType::e4m3 || type == FloatType::e5m2)
        throw std::invalid_argument("PTX has no arithmetic on tf32, e4m3 and e5m2");
    return float_format(type);
}

/// An operand as the instruction sees it.
FloatValue operand(const FloatFormat& format, std::uint64_t bits, bool flush) {
    return unpack(format, flush ? flushed(format, bits) : bits);
}

/// The result as the instruction's modifiers leave it.
std::uint64_t result(const FloatFormat& format, const FloatValue& value, const FloatMode& mode) {
    const std::uint64_t bits =
        mode.flush_subnormals ? pack_flushed(format, value, mode.rounding) : pack(format, value, mode.rounding);
    const bool negative = (bits & format.sign_bit()) != 0;
    if (mode.saturate) {
        if (value.kind == Kind::nan || negative) return 0;
        return std::min(bits, format.one());
    }
    return mode.relu && value.kind != Kind::nan && negative ? 0 : bits;
}

FloatValue quotient(const FloatValue& a, const FloatValue& b) {
    const bool negative = a.negative != b.negative;
    const bool undefined = a.kind == Kind::nan || b.kind == Kind::nan || (a.kind == b.kind && a.kind != Kind::finite);
    if (undefined) return kNan;
    if (a.kind == Kind::infinity || b.kind == Kind::zero) return {Kind::infinity, negative, 0, 0};
    if (a.kind == Kind::zero || b.kind == Kind::infinity) return {Kind::zero, negative, 0, 0};
    // At least 67 quotient bits: the divisor has at most 53.
    const int shift = 120 - bit_width(a.significand);
    const Uint128 dividend = a.significand << shift;
    const Uint128 whole = dividend / b.significand;
    const bool inexact = whole * b.significand != dividend;
    return {Kind::finite, negative, a.exponent - shift - b.exponent, whole | (inexact ? 1U : 0U)};
}

/// The whole part of the root, bit by bit.
Uint128 integer_root(Uint128 square) {
    Uint128 root = 0;
    for (int bit = bit_width(square) / 2; bit >= 0; --bit) {
        const Uint128 trial = root | (Uint128{1} << bit);
        if (trial * trial <= square) root = trial;
    }
    return root;
}

FloatValue square_root(const FloatValue& a) {
    if (a.kind == Kind::nan || (a.negative && a.kind != Kind::zero)) return kNan;
    if (a.kind != Kind::finite) return a;
    int shift = 120 - bit_width(a.significand);
    if (((a.exponent - shift) & 1) != 0) ++shift;
    const Uint128 square = a.significand << shift;
    const Uint128 root = integer_root(square);
    return {Kind::finite, false, (a.exponent - shift) / 2, root | (root * root != square ? 1U : 0U)};
}

/// Orders all but NaN, with -0 below +0: sign and magnitude as one signed number.
std::int64_t rank(const FloatFormat& format, std::uint64_t bits) {
    const auto magnitude = static_cast<std::int64_t>(bits & (format.sign_bit() - 1));
    return (bits & format.sign_bit()) != 0 ? -magnitude - 1 : magnitude;
}

bool is_nan(const FloatFormat& format, std::uint64_t bits) { return unpack(format, bits).kind == Kind::nan; }

template <typename Pick>
std::uint64_t min_max(FloatType type, std::uint64_t a, std::uint64_t b, MinMaxMode mode, Pick picks_first) {
    const FloatFormat& format = arithmetic_format(type);
    if (mode.flush_subnormals) {
        a = flushed(format, a);
        b = flushed(format, b);
    }
    const std::uint64_t sign = (a ^ b) & format.sign_bit();
    if (mode.xor_sign_of_abs) {
        a &= format.sign_bit() - 1;
        b &= format.sign_bit() - 1;
    }
    const bool nan_a = is_nan(format, a);
    const bool nan_b = is_nan(format, b);
    if ((nan_a && nan_b) || (mode.propagate_nan && (nan_a || nan_b))) return format.canonical_nan;
    const bool first = nan_b || (!nan_a && picks_first(rank(format, a), rank(format, b)));
    return (first ? a : b) | (mode.xor_sign_of_abs ? sign : 0);
}

/// An operation on each 16-bit half of its operands.
template <typename Operation, typename... Operands>
std::uint32_t each_half(Operation operation, Operands... operands) {
    const auto low = static_cast<std::uint32_t>(operation((operands & 0xffffU)...));
    const auto high = static_cast<std::uint32_t>(operation((operands >> 16)...));
    return (high << 16) | low;
}

}  // namespace

std::uint64_t canonical_nan(FloatType type) { return float_format(type).canonical_nan; }

std::uint64_t add(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode) {
    const FloatFormat& format = arithmetic_format(type);
    const bool flush = mode.flush_subnormals;
    return result(format, sum(operand(format, a, flush), operand(format, b, flush), mode.rounding), mode);
}

std::uint64_t sub(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode) {
    return add(type, a, b ^ arithmetic_format(type).sign_bit(), mode);
}

std::uint64_t mul(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode) {
    const FloatFormat& format = arithmetic_format(type);
    const bool flush = mode.flush_subnormals;
    return result(format, product(operand(format, a, flush), operand(format, b, flush)), mode);
}

std::uint64_t fma(FloatType type, std::uint64_t a, std::uint64_t b, std::uint64_t c, FloatMode mode) {
    const FloatFormat& format = arithmetic_format(type);
    const bool flush = mode.flush_subnormals;
    const FloatValue ab = product(operand(format, a, flush), operand(format, b, flush));
    return result(format, sum(ab, operand(format, c, flush), mode.rounding), mode);
}

std::uint64_t div(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode) {
    const FloatFormat& format = arithmetic_format(type);
    const bool flush = mode.flush_subnormals;
    return result(format, quotient(operand(format, a, flush), operand(format, b, flush)), mode);
}

std::uint64_t sqrt(FloatType type, std::uint64_t a, FloatMode mode) {
    const FloatFormat& format = arithmetic_format(type);
    return result(format, square_root(operand(format, a, mode.flush_subnormals)), mode);
}

std::uint64_t min(FloatType type, std::uint64_t a, std::uint64_t b, MinMaxMode mode) {
    return min_max(type, a, b, mode, [](std::int64_t x, std::int64_t y) { return x < y; });
}

std::uint64_t max(FloatType type, std::uint64_t a, std::uint64_t b, MinMaxMode mode) {
    return min_max(type, a, b, mode, [](std::int64_t x, std::int64_t y) { return x > y; });
}

std::uint64_t neg(FloatType type, std::uint64_t a, bool flush_subnormals) {
    const FloatFormat& format = arithmetic_format(type);
    return (flush_subnormals ? flushed(format, a) : a) ^ format.sign_bit();
}

std::uint64_t abs(FloatType type, std::uint64_t a, bool flush_subnormals) {
    const FloatFormat& format = arithmetic_format(type);
    return (flush_subnormals ? flushed(format, a) : a) & (format.sign_bit() - 1);
}

Ordering compare(FloatType type, std::uint64_t a, std::uint64_t b, bool flush_subnormals) {
    const FloatFormat& format = arithmetic_format(type);
    if (flush_subnormals) {
        a = flushed(format, a);
        b = flushed(format, b);
    }
    if (is_nan(format, a) || is_nan(format, b)) return Ordering::unordered;
    const bool both_zero = ((a | b) & (format.sign_bit() - 1)) == 0;
    const std::int64_t rank_a = rank(format, a);
    const std::int64_t rank_b = rank(format, b);
    if (both_zero || rank_a == rank_b) return Ordering::equal;
    return rank_a < rank_b ? Ordering::less : Ordering::greater;
}

std::uint32_t add_x2(FloatType type, std::uint32_t a, std::uint32_t b, FloatMode mode) {
    return each_half([&](std::uint32_t x, std::uint32_t y) { return add(type, x, y, mode); }, a, b);
}
std::uint32_t sub_x2(FloatType type, std::uint32_t a, std::uint32_t b, FloatMode mode) {
    return each_half([&](std::uint32_t x, std::uint32_t y) { return sub(type, x, y, mode); }, a, b);
}
std::uint32_t mul_x2(FloatType type, std::uint32_t a, std::uint32_t b, FloatMode mode) {
    return each_half([&](std::uint32_t x, std::uint32_t y) { return mul(type, x, y, mode); }, a, b);
}
std::uint32_t fma_x2(FloatType type, std::uint32_t a, std::uint32_t b, std::uint32_t c, FloatMode mode) {
    return each_half([&](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return fma(type, x, y, z, mode); }, a, b,
                     c);
}
std::uint32_t min_x2(FloatType type, std::uint32_t a, std::uint32_t b, MinMaxMode mode) {
    return each_half([&](std::uint32_t x, std::uint32_t y) { return min(type, x, y, mode); }, a, b);
}
std::uint32_t max_x2(FloatType type, std::uint32_t a, std::uint32_t b, MinMaxMode mode) {
    return each_half([&](std::uint32_t x, std::uint32_t y) { return max(type, x, y, mode); }, a, b);
}
std::uint32_t neg_x2(FloatType type, std::uint32_t a, bool flush_subnormals) {
    return each_half([&](std::uint32_t x) { return neg(type, x, flush_subnormals); }, a);
}
std::uint32_t abs_x2(FloatType type, std::uint32_t a, bool flush_subnormals) {
    return each_half([&](std::uint32_t x) { return abs(type, x, flush_subnormals); }, a);
}

}  // namespace jitgemm::emulator
