#pragma once

#include "runtime/emulator/float_arithmetic.hpp"

#include <cstdint>

/// \file Floating-point numbers as exact values, and the one rounding that makes bits of them again.

namespace jitgemm::emulator {

// NOLINTNEXTLINE(readability-identifier-naming): a name for the compiler's type
__extension__ typedef unsigned __int128 Uint128;

struct FloatFormat {
    int exponent_bits;
    int fraction_bits;
    int storage_shift;  ///< unused bits below the fraction: 13 of tf32
    bool has_infinity;
    std::uint64_t largest_finite;  ///< its bits without sign
    std::uint64_t canonical_nan;

    [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    [[nodiscard]] int min_exponent() const { return 1 - bias(); }
    [[nodiscard]] int width() const { return 1 + exponent_bits + fraction_bits + storage_shift; }
    [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (width() - 1); }
    [[nodiscard]] std::uint64_t one() const {
        return static_cast<std::uint64_t>(bias()) << (fraction_bits + storage_shift);
    }
    [[nodiscard]] std::uint64_t infinity() const {
        return ((std::uint64_t{1} << exponent_bits) - 1) << (fraction_bits + storage_shift);
    }
};

[[nodiscard]] const FloatFormat& float_format(FloatType type);

/// ± significand · 2^exponent. A finite significand is below 2^126 and not 0. Its lowest bit may stand for any nonzero
/// rest that was cut off below, if the rounding position is at least two bits higher.
struct FloatValue {
    enum class Kind : std::uint8_t { zero, finite, infinity, nan };
    Kind kind = Kind::zero;
    bool negative = false;
    int exponent = 0;
    Uint128 significand = 0;
};

[[nodiscard]] FloatValue unpack(const FloatFormat& format, std::uint64_t bits);

/// The bits of the rounded value. A value that is too large becomes infinity or the largest finite value, as the
/// rounding says. With `saturate_finite`, or in a format without infinity, it is always the latter.
[[nodiscard]] std::uint64_t pack(const FloatFormat& format, const FloatValue& value, Rounding rounding,
                                 bool saturate_finite = false);

/// The bits of a result with .ftz. The value is first rounded to the format's precision with an unlimited exponent. If
/// that lies below the normal numbers, the result is a zero with the value's sign. A value that only a subnormal's
/// coarser steps would round up to the smallest normal number therefore becomes zero, too.
[[nodiscard]] std::uint64_t pack_flushed(const FloatFormat& format, const FloatValue& value, Rounding rounding);

/// The value rounded to a whole number.
[[nodiscard]] FloatValue round_to_integral(const FloatValue& value, Rounding rounding);

[[nodiscard]] int bit_width(Uint128 value);

/// Shifted right. Lost bits leave a 1 in the lowest bit.
[[nodiscard]] Uint128 shift_right_sticky(Uint128 value, int shift);

/// The sum. `rounding` decides the sign of an exact zero.
[[nodiscard]] FloatValue sum(const FloatValue& a, const FloatValue& b, Rounding rounding);
[[nodiscard]] FloatValue product(const FloatValue& a, const FloatValue& b);

/// .ftz of an operand: a subnormal's bits become a zero with its sign.
[[nodiscard]] std::uint64_t flushed(const FloatFormat& format, std::uint64_t bits);

}  // namespace jitgemm::emulator
