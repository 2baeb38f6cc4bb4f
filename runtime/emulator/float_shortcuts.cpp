// The common cases of float_arithmetic.hpp through the host's double: exact, or rounded to odd and then once to the
// target, which gives the bits of a single rounding (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded
// sums: proved algorithms using rounding to odd": 53 bits suffice for targets of at most 24).

#include "runtime/emulator/float_arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace jitgemm::emulator {
namespace {

constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;

/// a + b rounded to odd: an inexact sum is the neighbour with an odd last bit.
double sum_to_odd(double a, double b) {
    const double rounded = a + b;
    const double b_part = rounded - a;
    const double error = (a - (rounded - b_part)) + (b - b_part);
    const auto bits = std::bit_cast<std::uint64_t>(rounded);
    if (error == 0.0 || (bits & 1U) != 0 || !std::isfinite(rounded)) return rounded;
    const bool outwards = (error > 0.0) == (rounded > 0.0);
    return std::bit_cast<double>(outwards ? bits + 1 : bits - 1);
}

std::uint32_t f16_magnitude(std::uint64_t bits) {
    constexpr int kFractionBits = 10, kMinExponent = -14;
    constexpr int kDropped = 52 - kFractionBits;
    constexpr std::uint64_t kSmallestNormal = static_cast<std::uint64_t>(1023 + kMinExponent) << 52;
    if (bits < kSmallestNormal) {
        // Adding a power of two makes the host round to multiples of the smallest step.
        constexpr std::uint64_t kStepAtLastBit = static_cast<std::uint64_t>(1023 + kMinExponent - kFractionBits + 52)
                                                 << 52;
        const double shifted = std::bit_cast<double>(bits) + std::bit_cast<double>(kStepAtLastBit);
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(shifted) - kStepAtLastBit);
    }
    const std::uint64_t half_up = (std::uint64_t{1} << (kDropped - 1)) - 1 + ((bits >> kDropped) & 1U);
    constexpr std::uint64_t kRebias = static_cast<std::uint64_t>(1023 + kMinExponent - 1) << 52;
    const std::uint64_t rounded = (bits - kRebias + half_up) >> kDropped;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(rounded, 0x7c00));  // infinity
}

/// Of an exact value the one rounding to nearest even.
std::uint16_t f16_rounded(double value) {
    if (value != value) return 0x7fff;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000U;
    return static_cast<std::uint16_t>(sign | f16_magnitude(bits & ~kSign64));
}

double f16_value(std::uint16_t bits) {
    const std::uint64_t sign = static_cast<std::uint64_t>(bits & 0x8000U) << 48;
    const std::uint64_t magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00U) return std::bit_cast<double>(sign | (std::uint64_t{0x7ff} << 52) | (magnitude & 0x3ffU));
    if (magnitude >= 0x400U) return std::bit_cast<double>(sign | ((magnitude << 42) + (std::uint64_t{1008} << 52)));
    const double subnormal = static_cast<double>(magnitude) * 0x1p-24;
    return sign != 0 ? -subnormal : subnormal;
}

}  // namespace

std::uint32_t fma_f32(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const double exact = static_cast<double>(std::bit_cast<float>(a)) * static_cast<double>(std::bit_cast<float>(b));
    return f32_bits(static_cast<float>(sum_to_odd(exact, static_cast<double>(std::bit_cast<float>(c)))));
}

// Sums of two f16 are exact in double.
std::uint16_t add_f16(std::uint16_t a, std::uint16_t b) { return f16_rounded(f16_value(a) + f16_value(b)); }

}  // namespace jitgemm::emulator
