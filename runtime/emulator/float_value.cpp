#include "runtime/emulator/float_value.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace jitgemm::emulator {
namespace {

// In FloatType's order. The canonical NaN of each type is the PTX ISA's ("cvt", "Half Precision Floating Point
// Instructions", "Floating Point Instructions"). The ISA names none for f64: that is CUDART_NAN of the toolkit.
// The ISA has 0x7fffffff for tf32, but an H200 gives the value here.
constexpr std::array kFormats = {
    FloatFormat{5, 10, 0, true, 0x7bff, 0x7fff},                                       // f16
    FloatFormat{8, 7, 0, true, 0x7f7f, 0x7fff},                                        // bf16
    FloatFormat{8, 10, 13, true, 0x7f7fe000, 0x7fffe000},                              // tf32
    FloatFormat{8, 23, 0, true, 0x7f7fffff, 0x7fffffff},                               // f32
    FloatFormat{11, 52, 0, true, 0x7fef'ffff'ffff'ffffULL, 0xfff8'0000'0000'0000ULL},  // f64
    FloatFormat{4, 3, 0, false, 0x7e, 0x7f},                                           // e4m3
    FloatFormat{5, 2, 0, true, 0x7b, 0x7f},                                            // e5m2
};

constexpr int kTopBit = 124;  // where sums align leading bits: room above for a carry, below for 106-bit products

bool rounds_up(Rounding rounding, bool negative, bool odd, Uint128 rest, Uint128 half) {
    switch (rounding) {
        case Rounding::nearest_even: return rest > half || (rest == half && odd);
        case Rounding::nearest_away: return rest >= half;
        case Rounding::zero: return false;
        case Rounding::down: return negative && rest != 0;
        case Rounding::up: return !negative && rest != 0;
    }
    return false;
}

/// significand / 2^shift to a whole number.
Uint128 rounded_shift(Uint128 significand, int shift, Rounding rounding, bool negative) {
    if (shift <= 0) return significand << -shift;
    // Significands stay below 2^126: at 127 all of it is less than half a unit.
    const int within = std::min(shift, 127);
    const Uint128 kept = shift < 127 ? significand >> within : 0;
    const Uint128 rest = significand - (kept << within);
    const Uint128 half = Uint128{1} << (within - 1);
    return kept + (rounds_up(rounding, negative, (kept & 1) != 0, rest, half) ? 1 : 0);
}

std::uint64_t overflow(const FloatFormat& format, Rounding rounding, bool negative, bool saturate_finite) {
    const bool towards_zero = rounding == Rounding::zero || (rounding == Rounding::down && !negative) ||
                              (rounding == Rounding::up && negative);
    return saturate_finite || towards_zero || !format.has_infinity ? format.largest_finite : format.infinity();
}

std::uint64_t finite_bits(const FloatFormat& format, const FloatValue& value, Rounding rounding, bool saturate_finite) {
    const int leading = value.exponent + bit_width(value.significand) - 1;
    const int exponent = std::max(leading, format.min_exponent());
    if (exponent > format.bias() + 1) return overflow(format, rounding, value.negative, saturate_finite);
    const int shift = exponent - format.fraction_bits - value.exponent;
    const auto kept = static_cast<std::uint64_t>(rounded_shift(value.significand, shift, rounding, value.negative));
    // A normal number's leading one adds 1 to the exponent field, a carry out of the rounding another.
    const auto field = static_cast<std::uint64_t>(exponent - format.min_exponent());
    const std::uint64_t bits = ((field << format.fraction_bits) + kept) << format.storage_shift;
    return bits > format.largest_finite ? overflow(format, rounding, value.negative, saturate_finite) : bits;
}

/// Whether a finite value rounded to the format's precision, of any exponent, is below the smallest normal number.
bool is_tiny(const FloatFormat& format, const FloatValue& value, Rounding rounding) {
    if (value.kind != FloatValue::Kind::finite) return false;
    const int leading = value.exponent + bit_width(value.significand) - 1;
    if (leading != format.min_exponent() - 1) return leading < format.min_exponent();
    const int shift = leading - format.fraction_bits - value.exponent;
    const Uint128 kept = rounded_shift(value.significand, shift, rounding, value.negative);
    return bit_width(kept) == format.fraction_bits + 1;  // no carry into the next power of two
}

/// The same value with its leading bit at kTopBit.
FloatValue aligned(const FloatValue& value) {
    const int shift = kTopBit + 1 - bit_width(value.significand);
    FloatValue result = value;
    result.significand = shift >= 0 ? value.significand << shift : shift_right_sticky(value.significand, -shift);
    result.exponent -= shift;
    return result;
}

FloatValue finite_sum(const FloatValue& a, const FloatValue& b, Rounding rounding) {
    FloatValue large = aligned(a);
    FloatValue small = aligned(b);
    if (large.exponent < small.exponent || (large.exponent == small.exponent && large.significand < small.significand))
        std::swap(large, small);
    const Uint128 shifted = shift_right_sticky(small.significand, large.exponent - small.exponent);
    if (large.negative == small.negative) {
        large.significand += shifted;
    } else {
        large.significand -= shifted;
    }
    if (large.significand == 0) return {FloatValue::Kind::zero, rounding == Rounding::down, 0, 0};
    return large;
}

}  // namespace

const FloatFormat& float_format(FloatType type) { return kFormats[static_cast<std::size_t>(type)]; }

int bit_width(Uint128 value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    const auto low = static_cast<std::uint64_t>(value);
    return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
}

Uint128 shift_right_sticky(Uint128 value, int shift) {
    if (shift <= 0) return value;
    if (shift >= 128) return value != 0 ? 1 : 0;
    const Uint128 kept = value >> shift;
    return kept | ((kept << shift) != value ? 1U : 0U);
}

FloatValue unpack(const FloatFormat& format, std::uint64_t bits) {
    const std::uint64_t fraction_mask = (std::uint64_t{1} << format.fraction_bits) - 1;
    const std::uint64_t stored = (bits & (format.sign_bit() - 1)) >> format.storage_shift;
    const auto field = static_cast<int>(stored >> format.fraction_bits);
    const std::uint64_t fraction = stored & fraction_mask;
    FloatValue value{FloatValue::Kind::zero, (bits & format.sign_bit()) != 0, 0, 0};
    const bool top = field == (1 << format.exponent_bits) - 1;
    if (format.has_infinity ? top : top && fraction == fraction_mask) {
        const bool infinity = format.has_infinity && fraction == 0;
        value.kind = infinity ? FloatValue::Kind::infinity : FloatValue::Kind::nan;
    } else if (stored != 0) {
        value.kind = FloatValue::Kind::finite;
        value.significand = field == 0 ? fraction : fraction + fraction_mask + 1;
        value.exponent = format.min_exponent() + std::max(field - 1, 0) - format.fraction_bits;
    }
    return value;
}

std::uint64_t pack(const FloatFormat& format, const FloatValue& value, Rounding rounding, bool saturate_finite) {
    const std::uint64_t sign = value.negative ? format.sign_bit() : 0;
    switch (value.kind) {
        case FloatValue::Kind::zero: return sign;
        case FloatValue::Kind::nan: return format.canonical_nan;
        case FloatValue::Kind::infinity:
            return sign | (saturate_finite || !format.has_infinity ? format.largest_finite : format.infinity());
        case FloatValue::Kind::finite: break;
    }
    return sign | finite_bits(format, value, rounding, saturate_finite);
}

std::uint64_t pack_flushed(const FloatFormat& format, const FloatValue& value, Rounding rounding) {
    return is_tiny(format, value, rounding) ? pack(format, {FloatValue::Kind::zero, value.negative, 0, 0}, rounding)
                                            : pack(format, value, rounding);
}

FloatValue round_to_integral(const FloatValue& value, Rounding rounding) {
    if (value.kind != FloatValue::Kind::finite || value.exponent >= 0) return value;
    FloatValue result = value;
    result.significand = rounded_shift(value.significand, -value.exponent, rounding, value.negative);
    result.exponent = 0;
    if (result.significand == 0) result.kind = FloatValue::Kind::zero;
    return result;
}

FloatValue sum(const FloatValue& a, const FloatValue& b, Rounding rounding) {
    using enum FloatValue::Kind;
    if (a.kind == nan || b.kind == nan) return {nan, false, 0, 0};
    if (a.kind == infinity || b.kind == infinity) {
        if (a.kind == b.kind && a.negative != b.negative) return {nan, false, 0, 0};
        return a.kind == infinity ? a : b;
    }
    if (a.kind == zero && b.kind == zero) {
        const bool negative = a.negative == b.negative ? a.negative : rounding == Rounding::down;
        return {zero, negative, 0, 0};
    }
    if (a.kind == zero) return b;
    if (b.kind == zero) return a;
    return finite_sum(a, b, rounding);
}

FloatValue product(const FloatValue& a, const FloatValue& b) {
    using enum FloatValue::Kind;
    if (a.kind == nan || b.kind == nan) return {nan, false, 0, 0};
    const bool negative = a.negative != b.negative;
    if (a.kind == infinity || b.kind == infinity) {
        if (a.kind == zero || b.kind == zero) return {nan, false, 0, 0};
        return {infinity, negative, 0, 0};
    }
    if (a.kind == zero || b.kind == zero) return {zero, negative, 0, 0};
    return {finite, negative, a.exponent + b.exponent, a.significand * b.significand};
}

std::uint64_t flushed(const FloatFormat& format, std::uint64_t bits) {
    return (bits & format.infinity()) == 0 ? bits & format.sign_bit() : bits;
}

}  // namespace jitgemm::emulator
