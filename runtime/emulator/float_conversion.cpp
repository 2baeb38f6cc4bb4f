#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/float_value.hpp"

#include <algorithm>
#include <limits>

namespace jitgemm::emulator {
namespace {

using Kind = FloatValue::Kind;

/// The low bits of a word as the integer they are, sign- or zero-extended.
std::uint64_t extended(std::uint64_t bits, IntegerType type) {
    const int unused = 64 - type.bits;
    if (type.is_signed) return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
    return (bits << unused) >> unused;
}

/// Largest magnitude of the integers of that sign.
std::uint64_t magnitude_limit(IntegerType type, bool negative) {
    if (!type.is_signed) return negative ? 0 : std::numeric_limits<std::uint64_t>::max() >> (64 - type.bits);
    const std::uint64_t half = std::uint64_t{1} << (type.bits - 1);
    return negative ? half : half - 1;
}

/// ± magnitude clamped to the integer's range.
std::uint64_t clamped(Uint128 magnitude, bool negative, IntegerType type) {
    const Uint128 limit = magnitude_limit(type, negative);
    const auto kept = static_cast<std::uint64_t>(std::min(magnitude, limit));
    return negative ? 0 - kept : kept;
}

FloatValue value_of_integer(IntegerType type, std::uint64_t bits) {
    const std::uint64_t word = extended(bits, type);
    const bool negative = type.is_signed && static_cast<std::int64_t>(word) < 0;
    return {word == 0 ? Kind::zero : Kind::finite, negative, 0, negative ? 0 - word : word};
}

std::uint64_t converted(const FloatValue& value, FloatType to, const ConversionMode& mode) {
    const FloatFormat& format = float_format(to);
    const bool eight_bits = to == FloatType::e4m3 || to == FloatType::e5m2;
    const FloatValue whole = mode.to_integral ? round_to_integral(value, mode.rounding) : value;
    const bool flush = mode.flush_subnormals && to == FloatType::f32;
    const std::uint64_t bits = flush ? pack_flushed(format, whole, mode.rounding)
                                     : pack(format, whole, mode.rounding, mode.saturate_finite || eight_bits);
    const bool negative = (bits & format.sign_bit()) != 0;
    if (mode.saturate) return value.kind == Kind::nan || negative ? 0 : std::min(bits, format.one());
    return mode.relu && value.kind != Kind::nan && negative ? 0 : bits;
}

/// Converts a NaN. From f64 to f32 it keeps its sign and the upper bits of its payload, and becomes quiet. cvt.rna to
/// tf32 consists of integer instructions, which round finite numbers only. So a NaN loses its low bits and does not
/// become quiet. A NaN that has only low bits becomes an infinity.
std::uint64_t converted_nan(FloatType from, FloatType to, std::uint64_t bits, const ConversionMode& mode) {
    if (mode.saturate) return 0;
    if (from == FloatType::f64 && to == FloatType::f32)
        return ((bits >> 63) << 31) | 0x7fc00000U | ((bits >> 29) & 0x003fffffU);
    if (to == FloatType::tf32 && mode.rounding == Rounding::nearest_away) return bits & 0xffffe000U;
    return canonical_nan(to);
}

}  // namespace

std::uint64_t convert_float(FloatType from, FloatType to, std::uint64_t bits, ConversionMode mode) {
    const FloatFormat& source = float_format(from);
    // .ftz concerns f32 alone: half-precision operands of a conversion keep their subnormals. So do f32 operands on the
    // way to f16: ptxas drops the modifier there (F2F.F16.F32 without .FTZ), and an H200 gives the bits of that.
    const bool flush = mode.flush_subnormals && from == FloatType::f32 && to != FloatType::f16;
    const FloatValue value = unpack(source, flush ? flushed(source, bits) : bits);
    return value.kind == Kind::nan ? converted_nan(from, to, bits, mode) : converted(value, to, mode);
}

std::uint64_t convert_to_integer(FloatType from, IntegerType to, std::uint64_t bits, Rounding rounding,
                                 bool flush_subnormals) {
    const FloatFormat& source = float_format(from);
    const bool flush = flush_subnormals && from == FloatType::f32;
    const FloatValue value = round_to_integral(unpack(source, flush ? flushed(source, bits) : bits), rounding);
    if (value.kind == Kind::zero) return 0;
    if (value.kind == Kind::nan) {
        const bool wide = from == FloatType::f64 || to.bits == 64;
        return wide ? extended(std::uint64_t{1} << (to.bits - 1), to) : 0;
    }
    // From 2^64 on every integer type is full; below, the shifted value is exact.
    const bool huge = value.kind == Kind::infinity || value.exponent + bit_width(value.significand) > 64;
    return clamped(huge ? Uint128{1} << 64 : value.significand << value.exponent, value.negative, to);
}

std::uint64_t convert_from_integer(IntegerType from, FloatType to, std::uint64_t bits, ConversionMode mode) {
    return converted(value_of_integer(from, bits), to, mode);
}

std::uint64_t convert_integer(IntegerType from, IntegerType to, std::uint64_t bits, bool saturate) {
    if (!saturate) return extended(extended(bits, from), to);
    const FloatValue value = value_of_integer(from, bits);
    return clamped(value.significand, value.negative, to);
}

std::uint32_t pack_x2(FloatType to, std::uint32_t high_f32, std::uint32_t low_f32, ConversionMode mode) {
    const auto high = static_cast<std::uint32_t>(convert_float(FloatType::f32, to, high_f32, mode));
    const auto low = static_cast<std::uint32_t>(convert_float(FloatType::f32, to, low_f32, mode));
    return (high << float_format(to).width()) | low;
}

std::uint32_t narrow_x2(FloatType from, FloatType to, std::uint32_t pair, ConversionMode mode) {
    const auto high = static_cast<std::uint32_t>(convert_float(from, to, pair >> 16, mode));
    const auto low = static_cast<std::uint32_t>(convert_float(from, to, pair & 0xffffU, mode));
    return (high << 8) | low;
}

std::uint32_t widen_x2(FloatType from, FloatType to, std::uint32_t bytes, bool relu) {
    const ConversionMode mode{.relu = relu};
    const auto high = static_cast<std::uint32_t>(convert_float(from, to, (bytes >> 8) & 0xffU, mode));
    const auto low = static_cast<std::uint32_t>(convert_float(from, to, bytes & 0xffU, mode));
    return (high << 16) | low;
}

}  // namespace jitgemm::emulator
