#pragma once

#include <bit>
#include <cstdint>

/// \file Scalar arithmetic of PTX on bit patterns, exact to the last bit: every operation is the exact result, rounded
/// once. NaN, zeros, subnormals and saturation follow the PTX ISA (9.0, "Floating Point Instructions", "Half Precision
/// Floating Point Instructions", "cvt"). The host must have the default rounding mode.

namespace jitgemm::emulator {

enum class FloatType : std::uint8_t { f16, bf16, tf32, f32, f64, e4m3, e5m2 };

/// .rn .rz .rm .rp of PTX, .rna of cvt to tf32. Conversions to integers round by the same names: .rni .rzi .rmi .rpi.
enum class Rounding : std::uint8_t { nearest_even, zero, down, up, nearest_away };

/// The modifiers of an arithmetic instruction.
struct FloatMode {
    Rounding rounding = Rounding::nearest_even;
    bool flush_subnormals = false;  ///< .ftz: subnormal operands and results become signed zeros
    bool saturate = false;          ///< .sat: the result is clamped to [0, 1], and NaN becomes +0
    bool relu = false;              ///< .relu: a negative result becomes +0, and NaN the canonical NaN
};

/// The modifiers of min and max.
struct MinMaxMode {
    bool flush_subnormals = false;
    bool propagate_nan = false;    ///< .NaN: one NaN operand is enough for a NaN result
    bool xor_sign_of_abs = false;  ///< .xorsign.abs: compares magnitudes; the result has the product's sign
};

/// The NaN that instructions make: 0x7fff for f16 and bf16, 0x7fffffff for f32, 0x7fffe000 for tf32, 0xfff8000000000000
/// for f64, 0x7f for both 8-bit types.
[[nodiscard]] std::uint64_t canonical_nan(FloatType type);

// ---- any type: bits in the low part of a word, correctly rounded in every mode --------------------------------------
// The definitions. The inline functions below are shortcuts to the same bits. 8-bit types and tf32 have no arithmetic
// and are refused with std::invalid_argument.
[[nodiscard]] std::uint64_t add(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode = {});
[[nodiscard]] std::uint64_t sub(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode = {});
[[nodiscard]] std::uint64_t mul(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode = {});
[[nodiscard]] std::uint64_t fma(FloatType type, std::uint64_t a, std::uint64_t b, std::uint64_t c, FloatMode mode = {});
[[nodiscard]] std::uint64_t div(FloatType type, std::uint64_t a, std::uint64_t b, FloatMode mode = {});
[[nodiscard]] std::uint64_t sqrt(FloatType type, std::uint64_t a, FloatMode mode = {});
[[nodiscard]] std::uint64_t min(FloatType type, std::uint64_t a, std::uint64_t b, MinMaxMode mode = {});
[[nodiscard]] std::uint64_t max(FloatType type, std::uint64_t a, std::uint64_t b, MinMaxMode mode = {});
[[nodiscard]] std::uint64_t neg(FloatType type, std::uint64_t a, bool flush_subnormals = false);
[[nodiscard]] std::uint64_t abs(FloatType type, std::uint64_t a, bool flush_subnormals = false);

enum class Ordering : std::uint8_t { less, equal, greater, unordered };
/// The order that setp uses: -0 equals +0, and NaN is unordered.
[[nodiscard]] Ordering compare(FloatType type, std::uint64_t a, std::uint64_t b, bool flush_subnormals = false);

// ---- two 16-bit values in a register: the operation on each half ----------------------------------------------------
[[nodiscard]] std::uint32_t add_x2(FloatType type, std::uint32_t a, std::uint32_t b, FloatMode mode = {});
[[nodiscard]] std::uint32_t sub_x2(FloatType type, std::uint32_t a, std::uint32_t b, FloatMode mode = {});
[[nodiscard]] std::uint32_t mul_x2(FloatType type, std::uint32_t a, std::uint32_t b, FloatMode mode = {});
[[nodiscard]] std::uint32_t fma_x2(FloatType type, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                   FloatMode mode = {});
[[nodiscard]] std::uint32_t min_x2(FloatType type, std::uint32_t a, std::uint32_t b, MinMaxMode mode = {});
[[nodiscard]] std::uint32_t max_x2(FloatType type, std::uint32_t a, std::uint32_t b, MinMaxMode mode = {});
[[nodiscard]] std::uint32_t neg_x2(FloatType type, std::uint32_t a, bool flush_subnormals = false);
[[nodiscard]] std::uint32_t abs_x2(FloatType type, std::uint32_t a, bool flush_subnormals = false);

// ---- conversions ----------------------------------------------------------------------------------------------------
struct ConversionMode {
    Rounding rounding = Rounding::nearest_even;
    bool flush_subnormals = false;  ///< .ftz: of f32 operands and results; no effect from f32 to f16
    bool saturate = false;          ///< .sat of a float result: clamped to [0, 1], NaN becomes +0
    bool saturate_finite =
        false;  ///< .satfinite: the largest finite value beyond the range; 8-bit types always have it
    bool relu = false;
    bool to_integral = false;  ///< float to float with an integer rounding (.rni …): the result is a whole number
};

/// Float to float. tf32 lies in 32 bits with zeros in its low 13. NaN becomes the canonical NaN, also for equal types
/// if `to_integral`, `flush_subnormals` or `saturate` is set. f64 to f32 and .rna to tf32 keep upper bits of the NaN
/// (measured on sm_90).
[[nodiscard]] std::uint64_t convert_float(FloatType from, FloatType to, std::uint64_t bits, ConversionMode mode = {});

struct IntegerType {
    int bits = 32;  ///< 8, 16, 32 or 64
    bool is_signed = false;
};

/// Float to integer: rounded to a whole number and clamped to the integer's range. NaN becomes 0, or 2^63 if the source
/// is f64 or the result has 64 bits. The result is sign- or zero-extended to 64 bits.
[[nodiscard]] std::uint64_t convert_to_integer(FloatType from, IntegerType to, std::uint64_t bits, Rounding rounding,
                                               bool flush_subnormals = false);

/// Integer (in the low `from.bits` of the word) to float.
[[nodiscard]] std::uint64_t convert_from_integer(IntegerType from, FloatType to, std::uint64_t bits,
                                                 ConversionMode mode = {});

/// Integer to integer: truncated, or clamped to the range of `to` with .sat. The result is extended to 64 bits.
[[nodiscard]] std::uint64_t convert_integer(IntegerType from, IntegerType to, std::uint64_t bits,
                                            bool saturate = false);

/// cvt.rn.bf16x2.f32 d, high, low and its like: to f16, bf16 (two 16-bit halves) or e4m3, e5m2 (two bytes in 16 bits).
[[nodiscard]] std::uint32_t pack_x2(FloatType to, std::uint32_t high_f32, std::uint32_t low_f32,
                                    ConversionMode mode = {});
/// cvt.rn.satfinite.e4m3x2.f16x2 and its like: each half of `pair` to the 8-bit type, two bytes in 16 bits.
[[nodiscard]] std::uint32_t narrow_x2(FloatType from, FloatType to, std::uint32_t pair, ConversionMode mode = {});
/// cvt.rn.f16x2.e4m3x2 and its like: two bytes to two halves, exactly.
[[nodiscard]] std::uint32_t widen_x2(FloatType from, FloatType to, std::uint32_t bytes, bool relu = false);

// ---- approximations -------------------------------------------------------------------------------------------------
// The ISA bounds the error of these functions and does not fix their bits. Here the true value is rounded once, which
// meets every bound. Special values follow the ISA's tables. f32 always; ex2 and tanh also f16 and bf16.
enum class Approximation : std::uint8_t { ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh };
[[nodiscard]] std::uint64_t approximate(Approximation function, FloatType type, std::uint64_t bits,
                                        bool flush_subnormals = false);
/// div.approx of f32, and div.full with `full_range`. div.approx gives 0 for every |b| above 2^126, and NaN if a is
/// infinite as well.
[[nodiscard]] std::uint32_t approximate_div(std::uint32_t a, std::uint32_t b, bool flush_subnormals = false,
                                            bool full_range = false);

// ---- shortcuts: f32 to nearest even, subnormals kept ----------------------------------------------------------------
// The host's arithmetic gives the same bits, except for its NaN. The build must not contract a · b + c
// (-ffp-contract=off in this folder), and intermediates must be no wider than float (any x86-64, aarch64).
inline constexpr std::uint32_t kNan32 = 0x7fffffffU;

[[nodiscard]] inline std::uint32_t f32_bits(float value) {
    return value == value ? std::bit_cast<std::uint32_t>(value) : kNan32;  // NaN differs from itself
}
[[nodiscard]] inline std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
    return f32_bits(std::bit_cast<float>(a) + std::bit_cast<float>(b));
}
[[nodiscard]] inline std::uint32_t sub_f32(std::uint32_t a, std::uint32_t b) {
    return f32_bits(std::bit_cast<float>(a) - std::bit_cast<float>(b));
}
[[nodiscard]] inline std::uint32_t mul_f32(std::uint32_t a, std::uint32_t b) {
    return f32_bits(std::bit_cast<float>(a) * std::bit_cast<float>(b));
}
[[nodiscard]] std::uint32_t fma_f32(std::uint32_t a, std::uint32_t b, std::uint32_t c);

// ---- shortcut: f16 to nearest even, subnormals kept -----------------------------------------------------------------
[[nodiscard]] std::uint16_t add_f16(std::uint16_t a, std::uint16_t b);

}  // namespace jitgemm::emulator
