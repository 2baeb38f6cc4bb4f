#pragma once

#include "runtime/emulator/float_arithmetic.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

/// \file The fused multiply-add of tensor cores. Products are exact. They are aligned to the largest exponent among
/// them and the accumulator, cut off (not rounded) below a fixed number of fraction bits, and added exactly. The sum is
/// rounded once. Sources and figures: docs/emulator-numerics.md.

namespace jitgemm::emulator {

/// The rounding of a sum.
enum class SumOutput : std::uint8_t {
    f32,        ///< cut off to 24 bits, towards zero
    f32_e8m13,  ///< an f32 cut off to 13 fraction bits, towards zero
    f16,        ///< rounded to nearest even
};

/// The parameters of a generation's sum, for one class of types.
struct SumRule {
    int fraction_bits;  ///< bits that are kept below the largest exponent's unit
    int block;          ///< products per sum; a longer dot product is a chain of sums
    int zero_exponent;  ///< the exponent of a product or an accumulator of 0 in the search for the largest exponent
    SumOutput output;
};

/// The operands as bits, A row by row, B by k (its columns contiguous). Each element has its own word.
struct FloatTile {
    static constexpr std::size_t kMaxRows = 32;
    static constexpr std::size_t kMaxColumns = 32;
    static constexpr std::size_t kMaxDepth = 32;

    int m;
    int n;  ///< a multiple of 8
    int k;
    FloatType type_a;
    FloatType type_b;
    alignas(32) std::array<std::uint32_t, kMaxRows * kMaxDepth> a;
    alignas(32) std::array<std::uint32_t, kMaxDepth * kMaxColumns> b;
    /// The accumulator, which the result replaces: f16 or f32 bits, row by row.
    alignas(32) std::array<std::uint32_t, kMaxRows * kMaxColumns> c;

    // The positions of elements in them.
    [[nodiscard]] std::size_t at_a(int row, int depth) const { return position(row, k, depth); }
    [[nodiscard]] std::size_t at_b(int depth, int column) const { return position(depth, n, column); }
    [[nodiscard]] std::size_t at_c(int row, int column) const { return position(row, n, column); }

private:
    static std::size_t position(int row, int columns, int column) {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
    }
};

/// tile.c = tile.a · tile.b + tile.c, block after block of k.
void accumulate_fused(FloatTile& tile, const SumRule& rule);

}  // namespace jitgemm::emulator
