#include "runtime/emulator/fused_sum.hpp"

#include "runtime/emulator/float_value.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// Eight columns at a time in the compilers' vector extension: the same code for SSE2, NEON and, in a copy of its own
// that the processor is asked for, AVX2 (which alone shifts each element by its own count).
#define JITGEMM_INLINE [[gnu::always_inline]] inline
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // how vectors are returned: everything that returns one is inlined
#endif

namespace jitgemm::emulator {
namespace {

constexpr int kSimdLanes = 8;
using Lanes [[gnu::vector_size(kSimdLanes * sizeof(std::int32_t))]] = std::int32_t;
using WideLanes [[gnu::vector_size(kSimdLanes * sizeof(std::int64_t))]] = std::int64_t;

/// Exponents no finite number has. Two of them added stay below any product's.
constexpr int kZeroMark = -(1 << 20);
constexpr int kBelowProducts = kZeroMark / 2;

/// Significands with sign, as whole numbers of 2^(exponent - fraction bits).
struct Significands {
    Lanes significand;
    Lanes exponent;
    Lanes special;  ///< all ones where the element is an infinity or NaN; its significand is 0 then
};

/// A format's layout in the order of the masks that taking it apart needs.
struct Layout {
    int fraction_bits;
    int fraction_shift;  ///< position of the fraction's lowest bit
    int exponent_mask;
    int bias;
    int width;
    bool has_infinity;
};

Layout layout_of(FloatType type) {
    const FloatFormat& format = float_format(type);
    return {format.fraction_bits, format.storage_shift, (1 << format.exponent_bits) - 1,
            format.bias(),        format.width(),       format.has_infinity};
}

JITGEMM_INLINE Lanes maximum(const Lanes& x, const Lanes& y) { return x > y ? x : y; }
JITGEMM_INLINE Lanes minimum(const Lanes& x, const Lanes& y) { return x < y ? x : y; }
JITGEMM_INLINE Lanes filled(int value) { return Lanes{} + value; }

JITGEMM_INLINE void load(Lanes& lanes, const std::uint32_t* bits) { std::memcpy(&lanes, bits, sizeof lanes); }

JITGEMM_INLINE void take_apart(Significands& result, const std::uint32_t* bits, const Layout& layout) {
    Lanes word;
    load(word, bits);
    const Lanes stored = word >> layout.fraction_shift;
    const int leading = 1 << layout.fraction_bits;
    const Lanes fraction = stored & (leading - 1);
    const Lanes field = (stored >> layout.fraction_bits) & layout.exponent_mask;
    const Lanes magnitude = fraction | (field != 0 ? filled(leading) : filled(0));
    const Lanes sign = (word << (32 - layout.width)) >> 31;
    result.special = (field == layout.exponent_mask) & (layout.has_infinity ? filled(-1) : fraction == leading - 1);
    result.significand = ((magnitude ^ sign) - sign) & ~result.special;
    result.exponent = result.significand != 0 ? maximum(field, filled(1)) - layout.bias : filled(kZeroMark);
}

/// A magnitude in units of 2^(own exponent - fraction_bits) cut off at those of the largest exponent.
JITGEMM_INLINE Lanes aligned(const Lanes& significand, const Lanes& distance, int left, int right) {
    const Lanes sign = significand >> 31;
    const Lanes magnitude = (significand ^ sign) - sign;
    const Lanes cut = (magnitude << left) >> minimum(distance + right, filled(31));
    return (cut ^ sign) - sign;
}

struct Sums {
    WideLanes sum;   ///< in units of 2^(exponent - fraction_bits)
    Lanes exponent;  ///< the largest of the terms
};

/// Elements of A, spread over rows, and of B, as significands and exponents.
struct Factors {
    std::array<std::int32_t, FloatTile::kMaxRows * FloatTile::kMaxDepth> a_significand;
    std::array<std::int32_t, FloatTile::kMaxRows * FloatTile::kMaxDepth> a_exponent;
    std::array<Significands, FloatTile::kMaxDepth * FloatTile::kMaxColumns / kSimdLanes> b;
    std::array<bool, FloatTile::kMaxRows> row_special;  ///< infinities or NaN among them
    std::array<Lanes, FloatTile::kMaxColumns / kSimdLanes> column_special;
    int product_fraction_bits;
};

JITGEMM_INLINE bool any(const Lanes& mask) {
    std::int32_t bits = 0;
    for (int lane = 0; lane < kSimdLanes; ++lane) bits |= mask[lane];
    return bits != 0;
}

JITGEMM_INLINE void take_rows(Factors& factors, const FloatTile& tile, const Layout& layout) {
    factors.row_special.fill(false);
    for (int i = 0; i < tile.m * tile.k; i += kSimdLanes) {
        const auto at = static_cast<std::size_t>(i);
        Significands part;
        take_apart(part, &tile.a[at], layout);
        std::memcpy(&factors.a_significand[at], &part.significand, sizeof(Lanes));
        std::memcpy(&factors.a_exponent[at], &part.exponent, sizeof(Lanes));
        if (!any(part.special)) continue;
        for (int row = i / tile.k; row <= (i + kSimdLanes - 1) / tile.k;
             ++row)  // of k = 4 there are two in eight elements
            factors.row_special[static_cast<std::size_t>(row)] = true;
    }
}

JITGEMM_INLINE void take_columns(Factors& factors, const FloatTile& tile, const Layout& layout) {
    factors.column_special.fill(Lanes{});
    for (int i = 0; i < tile.n * tile.k; i += kSimdLanes) {
        Significands& part = factors.b[static_cast<std::size_t>(i / kSimdLanes)];
        take_apart(part, &tile.b[static_cast<std::size_t>(i)], layout);
        factors.column_special[static_cast<std::size_t>(i % tile.n / kSimdLanes)] |= part.special;
    }
}

JITGEMM_INLINE void take_factors(Factors& factors, const FloatTile& tile) {
    const Layout layout_a = layout_of(tile.type_a);
    const Layout layout_b = layout_of(tile.type_b);
    take_rows(factors, tile, layout_a);
    take_columns(factors, tile, layout_b);
    factors.product_fraction_bits = layout_a.fraction_bits + layout_b.fraction_bits;
}

/// One row of A with eight columns of B over one block of k. `c` are the accumulators.
JITGEMM_INLINE void sum_block(Sums& result, const Factors& factors, const FloatTile& tile, const SumRule& rule,
                              const Significands& c, int c_fraction_bits, int row, int column, int first_k, int block) {
    std::array<Lanes, FloatTile::kMaxDepth> products;
    std::array<Lanes, FloatTile::kMaxDepth> exponents;
    const Lanes zero_exponent = filled(rule.zero_exponent);
    const Lanes c_exponent = c.significand != 0 ? c.exponent : zero_exponent;
    Lanes largest = c_exponent;
    for (int i = 0; i < block; ++i) {
        const std::size_t a = tile.at_a(row, first_k + i);
        const Significands& b = factors.b[tile.at_b(first_k + i, column) / kSimdLanes];
        const auto at = static_cast<std::size_t>(i);
        products[at] = b.significand * factors.a_significand[a];
        const Lanes exponent = b.exponent + factors.a_exponent[a];
        exponents[at] = exponent > kBelowProducts ? exponent : zero_exponent;
        largest = maximum(largest, exponents[at]);
    }
    const int c_left = std::max(rule.fraction_bits - c_fraction_bits, 0);
    const int c_right = std::max(c_fraction_bits - rule.fraction_bits, 0);
    const int left = rule.fraction_bits - factors.product_fraction_bits;
    Lanes partial = aligned(c.significand, largest - c_exponent, c_left, c_right);
    result.sum = WideLanes{};
    for (int i = 0; i < block; ++i) {
        const auto at = static_cast<std::size_t>(i);
        partial += aligned(products[at], largest - exponents[at], left, 0);
        // A term is below 2^27 (25 fraction bits and a product below 4): eight fit in 31 bits.
        if (i % 8 == 7 || i + 1 == block) {
            result.sum += __builtin_convertvector(partial, WideLanes);
            partial = Lanes{};
        }
    }
    result.exponent = largest;
}

// ---- results --------------------------------------------------------------------------------------------------------

/// magnitude · 2^unit towards zero to an f32 of that many fraction bits.
std::uint32_t f32_towards_zero(std::uint64_t magnitude, int unit, int fraction_bits) {
    const int exponent = std::max(unit + 63 - std::countl_zero(magnitude), -126);
    if (exponent > 127) return 0x7f800000U;
    const int shift = exponent - fraction_bits - unit;
    const std::uint64_t kept = shift > 63 ? 0 : (shift >= 0 ? magnitude >> shift : magnitude << -shift);
    const auto aligned_fraction = static_cast<std::uint32_t>(kept << (23 - fraction_bits));
    return (static_cast<std::uint32_t>(exponent + 126) << 23) + aligned_fraction;
}

std::uint32_t f16_nearest_even(std::uint64_t magnitude, int unit) {
    const int exponent = std::max(unit + 63 - std::countl_zero(magnitude), -14);
    if (exponent > 15) return 0x7c00U;
    const int shift = exponent - 10 - unit;
    std::uint64_t kept = 0;
    if (shift <= 0) {
        kept = magnitude << -shift;
    } else if (shift <= 63) {
        kept = magnitude >> shift;
        const std::uint64_t rest = magnitude - (kept << shift);
        const std::uint64_t half = std::uint64_t{1} << (shift - 1);
        kept += (rest > half || (rest == half && (kept & 1U) != 0)) ? 1 : 0;
    }
    return (static_cast<std::uint32_t>(exponent + 14) << 10) + static_cast<std::uint32_t>(kept);
}

/// Every zero is +0: an exact one, and one that a negative sum was rounded to (measured on sm_90).
std::uint32_t result_bits(std::int64_t sum, int unit, SumOutput output) {
    if (sum == 0) return 0;
    const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const bool half = output == SumOutput::f16;
    const std::uint32_t rounded = half ? f16_nearest_even(magnitude, unit)
                                       : f32_towards_zero(magnitude, unit, output == SumOutput::f32 ? 23 : 13);
    const std::uint32_t sign = half ? 0x8000U : 0x80000000U;
    return sum < 0 && rounded != 0 ? sign | rounded : rounded;
}

// ---- infinities and NaN ---------------------------------------------------------------------------------------------

/// The result of a dot product with infinities or NaN. Finite terms do not matter then.
struct SpecialSum {
    bool nan = false;
    bool positive = false;
    bool negative = false;

    void add(const FloatValue& value) {
        nan = nan || value.kind == FloatValue::Kind::nan;
        if (value.kind == FloatValue::Kind::infinity) (value.negative ? negative : positive) = true;
    }
    [[nodiscard]] bool any() const { return nan || positive || negative; }
    [[nodiscard]] std::uint32_t bits(const FloatFormat& format) const {
        if (nan || (positive && negative)) return static_cast<std::uint32_t>(format.canonical_nan);
        return static_cast<std::uint32_t>(format.infinity() | (negative ? format.sign_bit() : 0));
    }
};

SpecialSum special_sum(const FloatTile& tile, const FloatFormat& format_c, std::uint32_t c, int row, int column,
                       int first_k, int block) {
    const FloatFormat& format_a = float_format(tile.type_a);
    const FloatFormat& format_b = float_format(tile.type_b);
    SpecialSum sum;
    sum.add(unpack(format_c, c));
    for (int i = first_k; i < first_k + block; ++i) {
        const FloatValue a = unpack(format_a, tile.a[tile.at_a(row, i)]);
        const FloatValue b = unpack(format_b, tile.b[tile.at_b(i, column)]);
        sum.add(product(a, b));
    }
    return sum;
}

// ---- a tile ---------------------------------------------------------------------------------------------------------

JITGEMM_INLINE void accumulate_group(FloatTile& tile, const Factors& factors, const SumRule& rule,
                                     const Layout& layout_c, const FloatFormat& format_c, int row, int column,
                                     int first_k, int block) {
    std::uint32_t* const c = &tile.c[tile.at_c(row, column)];
    Significands accumulator;
    take_apart(accumulator, c, layout_c);
    const Lanes suspect = accumulator.special | factors.column_special[static_cast<std::size_t>(column / kSimdLanes)];
    const bool whole_row = factors.row_special[static_cast<std::size_t>(row)];
    Sums sums;
    sum_block(sums, factors, tile, rule, accumulator, layout_c.fraction_bits, row, column, first_k, block);
    for (int lane = 0; lane < kSimdLanes; ++lane) {
        const bool check = whole_row || suspect[lane] != 0;
        const SpecialSum special =
            check ? special_sum(tile, format_c, c[lane], row, column + lane, first_k, block) : SpecialSum{};
        c[lane] = special.any() ? special.bits(format_c)
                                : result_bits(sums.sum[lane], sums.exponent[lane] - rule.fraction_bits, rule.output);
    }
}

JITGEMM_INLINE void accumulate(FloatTile& tile, const SumRule& rule) {
    Factors factors;
    take_factors(factors, tile);
    const FloatType type_c = rule.output == SumOutput::f16 ? FloatType::f16 : FloatType::f32;
    const Layout layout_c = layout_of(type_c);
    const FloatFormat& format_c = float_format(type_c);
    for (int row = 0; row < tile.m; ++row) {
        for (int column = 0; column < tile.n; column += kSimdLanes) {
            for (int first = 0; first < tile.k; first += rule.block)
                accumulate_group(tile, factors, rule, layout_c, format_c, row, column, first,
                                 std::min(rule.block, tile.k - first));
        }
    }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void accumulate_avx2(FloatTile& tile, const SumRule& rule) { accumulate(tile, rule); }
#endif

}  // namespace

void accumulate_fused(FloatTile& tile, const SumRule& rule) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return accumulate_avx2(tile, rule);
#endif
    accumulate(tile, rule);
}

}  // namespace jitgemm::emulator
