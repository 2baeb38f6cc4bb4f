#include "runtime/emulator/tensor_core.hpp"

#include "jitgemm/error.hpp"
#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/fused_sum.hpp"
#include "runtime/emulator/mask.hpp"
#include "runtime/emulator/mma_fragments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace jitgemm::emulator {
namespace {

// ---- models ---------------------------------------------------------------------------------------------------------

/// One row per generation. Figures: docs/emulator-numerics.md, "Parameters".
struct ModelRow {
    int first_capability;  ///< the row serves capabilities from here to the next row's
    TensorCoreModel model;
    int fraction_bits;
    int block_bytes;  ///< bytes of A in one sum: elements of a block × their size
    int zero_exponent;
    bool has_fp8;
    bool fp8_as_f16;  ///< ptxas makes fp8 mma.sync out of conversions and f16 instructions
    int fp8_fraction_bits;
    SumOutput fp8_output;  ///< of f32 results
};

constexpr std::array kModels = {
    ModelRow{75, TensorCoreModel::turing, 24, 16, -132, false, false, 0, SumOutput::f32},
    ModelRow{80, TensorCoreModel::ampere, 24, 16, -132, false, false, 0, SumOutput::f32},
    ModelRow{89, TensorCoreModel::ada, 24, 16, -132, true, false, 13, SumOutput::f32_e8m13},
    ModelRow{90, TensorCoreModel::hopper, 25, 32, -133, true, true, 25, SumOutput::f32},
    ModelRow{100, TensorCoreModel::blackwell, 25, 32, -133, true, true, 25, SumOutput::f32},
    ModelRow{120, TensorCoreModel::blackwell_rtx, 25, 32, -133, true, false, 25, SumOutput::f32},
};

const ModelRow& row_of(TensorCoreModel model) { return *std::ranges::find(kModels, model, &ModelRow::model); }

bool is_integer(MmaType type) {
    return type == MmaType::s8 || type == MmaType::u8 || type == MmaType::s4 || type == MmaType::u4;
}

FloatType float_type(MmaType type) {
    switch (type) {
        case MmaType::f16: return FloatType::f16;
        case MmaType::bf16: return FloatType::bf16;
        case MmaType::tf32: return FloatType::tf32;
        case MmaType::e4m3: return FloatType::e4m3;
        case MmaType::e5m2: return FloatType::e5m2;
        default: return FloatType::f32;
    }
}

SumRule sum_rule(const MmaKind& kind, const ModelRow& row) {
    const bool native_fp8 = is_float8(kind.a) && !row.fp8_as_f16;
    SumRule rule{native_fp8 ? row.fp8_fraction_bits : row.fraction_bits,
                 row.block_bytes * 8 / (native_fp8 ? 8 : std::max(type_bits(kind.a), 16)), row.zero_exponent,
                 native_fp8 ? row.fp8_output : SumOutput::f32};
    if (kind.d == MmaType::f16) rule.output = SumOutput::f16;
    return rule;
}

/// That of Hopper's wgmma, which sums 8-bit floats by a rule of its own. mma.sync does not use that rule.
SumRule wgmma_sum_rule(const MmaKind& kind) {
    SumRule rule = sum_rule(kind, row_of(TensorCoreModel::hopper));
    if (!is_float8(kind.a)) return rule;
    constexpr int kFractionBits = 13;
    rule.fraction_bits = kFractionBits;
    rule.block = kind.k;
    if (kind.d != MmaType::f16) rule.output = SumOutput::f32_e8m13;
    return rule;
}

// ---- one dot-product engine per class of types, on matrices ---------------------------------------------------------

/// Every 8-bit number as f16, exactly.
std::array<std::uint32_t, 256> f16_of_fp8(FloatType type) {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t bits = 0; bits < 256; ++bits)
        table[bits] = static_cast<std::uint32_t>(convert_float(type, FloatType::f16, bits));
    return table;
}

const std::array<std::uint32_t, 256>& widening_table(FloatType type) {
    static const std::array<std::uint32_t, 256> kE4m3 = f16_of_fp8(FloatType::e4m3);
    static const std::array<std::uint32_t, 256> kE5m2 = f16_of_fp8(FloatType::e5m2);
    return type == FloatType::e4m3 ? kE4m3 : kE5m2;
}

/// The operands as f16, the first two of every four k before the others.
void widen_fp8(const FloatTile& tile, FloatTile& halves) {
    const std::array<std::uint32_t, 256>& table_a = widening_table(tile.type_a);
    const std::array<std::uint32_t, 256>& table_b = widening_table(tile.type_b);
    for (int i = 0; i < tile.k; ++i) {
        const int half = i / (tile.k / 2);
        const int source = 4 * (i % (tile.k / 2) / 2) + i % 2 + 2 * half;
        for (int row = 0; row < tile.m; ++row) halves.a[tile.at_a(row, i)] = table_a[tile.a[tile.at_a(row, source)]];
        for (int column = 0; column < tile.n; ++column)
            halves.b[tile.at_b(i, column)] = table_b[tile.b[tile.at_b(source, column)]];
    }
}

/// If tensor cores have fp8 for wgmma only, ptxas compiles an fp8 mma.sync to conversions, two f16 instructions that
/// start from zero, and an ordinary addition of C.
void multiply_fp8_as_f16(const SumRule& rule, FloatTile& tile) {
    FloatTile halves;
    halves.m = tile.m;
    halves.n = tile.n;
    halves.k = tile.k;
    halves.type_a = halves.type_b = FloatType::f16;
    halves.c.fill(0);
    widen_fp8(tile, halves);
    SumRule each = rule;
    each.block = std::min(rule.block, tile.k / 2);
    accumulate_fused(halves, each);
    for (std::size_t i = 0; i < tile.at_c(tile.m, 0); ++i) {
        tile.c[i] = rule.output == SumOutput::f16
                        ? add_f16(static_cast<std::uint16_t>(tile.c[i]), static_cast<std::uint16_t>(halves.c[i]))
                        : add_f32(tile.c[i], halves.c[i]);
    }
}

void multiply_floats(const MmaPlan& plan, const ModelRow& row, const std::uint32_t* a, const std::uint32_t* b,
                     const std::uint32_t* c, std::uint32_t* d) {
    const MmaKind& kind = plan.kind;
    FloatTile tile;
    tile.m = kind.m;
    tile.n = kind.n;
    tile.k = kind.k;
    tile.type_a = float_type(kind.a);
    tile.type_b = float_type(kind.b);
    gather(plan.a, a, tile.a.data());
    gather(plan.b, b, tile.b.data());
    gather(plan.c, c, tile.c.data());
    const SumRule rule = sum_rule(kind, row);
    if (is_float8(kind.a) && row.fp8_as_f16) {
        multiply_fp8_as_f16(rule, tile);
    } else {
        accumulate_fused(tile, rule);
    }
    scatter(plan.c, tile.c.data(), d);
}

/// The elements as numbers, in place.
void extend(std::span<std::uint32_t> elements, MmaType type) {
    if (type != MmaType::s8 && type != MmaType::s4) return;
    const int unused = 32 - type_bits(type);
    for (std::uint32_t& element : elements)
        element = static_cast<std::uint32_t>(static_cast<std::int32_t>(element << unused) >> unused);
}

/// Exact: 64 products of 8 bits stay far below 2^31, only the addition of C can leave the range.
void multiply_integers(const MmaPlan& plan, bool saturate, const std::uint32_t* a, const std::uint32_t* b,
                       const std::uint32_t* c, std::uint32_t* d) {
    constexpr std::size_t kRows = 16, kColumns = 8, kDepth = 64;
    const auto m = static_cast<std::size_t>(plan.kind.m);
    const auto k = static_cast<std::size_t>(plan.kind.k);
    std::array<std::uint32_t, kRows * kDepth> rows;
    std::array<std::uint32_t, kDepth * kColumns> columns;
    std::array<std::uint32_t, kRows * kColumns> sums;
    gather(plan.a, a, rows.data());
    gather(plan.b, b, columns.data());
    gather(plan.c, c, sums.data());
    extend(std::span(rows).first(m * k), plan.kind.a);
    extend(std::span(columns).first(k * kColumns), plan.kind.b);
    for (std::size_t row = 0; row < m; ++row) {
        std::array<std::uint32_t, kColumns> dots{};  // modulo 2^32, in which products of signed numbers are right too
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t column = 0; column < kColumns; ++column)
                dots[column] += rows[row * k + i] * columns[i * kColumns + column];
        for (std::size_t column = 0; column < kColumns; ++column) {
            std::uint32_t& cell = sums[row * kColumns + column];
            std::int64_t sum = std::int64_t{static_cast<std::int32_t>(cell)} + static_cast<std::int32_t>(dots[column]);
            using Limits = std::numeric_limits<std::int32_t>;
            if (saturate) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
            cell = static_cast<std::uint32_t>(sum);
        }
    }
    scatter(plan.c, sums.data(), d);
}

/// c = a · b + c modulo 2^32, where A and C lie row by row and B's columns are contiguous.
void add_integer_products(const MmaKind& kind, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c) {
    const auto m = static_cast<std::size_t>(kind.m), n = static_cast<std::size_t>(kind.n);
    const auto depth = static_cast<std::size_t>(kind.k);
    std::vector<std::uint32_t> rows(a, a + m * depth), columns(b, b + depth * n);
    extend(rows, kind.a);
    extend(columns, kind.b);
    for (std::size_t row = 0; row < m; ++row)
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t column = 0; column < n; ++column)
                c[row * n + column] += rows[row * depth + k] * columns[k * n + column];
}

/// Of several NaN operands B's goes on, else C's, else A's, made quiet (measured on sm_90).
std::uint64_t fma_f64(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51;
    for (const std::uint64_t operand : {b, c, a}) {
        if (std::isnan(std::bit_cast<double>(operand))) return operand | kQuiet;
    }
    const double result = std::fma(std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c));
    return std::isnan(result) ? canonical_nan(FloatType::f64) : std::bit_cast<std::uint64_t>(result);
}

/// m8n8k4.f64: a chain of fused multiply-adds in the order of k. Its operands need no matrices: lane 4·row + k holds
/// A(row, k), lane 4·column + k B(k, column), lane 4·row + t C(row, 2·t) and C(row, 2·t + 1).
void multiply_f64(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d) {
    const auto word64 = [](const std::uint32_t* registers, int index, int lane) {
        return static_cast<std::uint64_t>(registers[(2 * index + 1) * kLanes + lane]) << 32 |
               registers[2 * index * kLanes + lane];
    };
    std::array<std::uint64_t, 64> sums{};
    for (int i = 0; i < 64; ++i) {
        const int row = i / 8;
        const int column = i % 8;
        std::uint64_t sum = word64(c, column % 2, 4 * row + column / 2);
        for (int k = 0; k < 4; ++k) sum = fma_f64(word64(a, 0, 4 * row + k), word64(b, 0, 4 * column + k), sum);
        sums[static_cast<std::size_t>(i)] = sum;
    }
    for (int i = 0; i < 64; ++i) {
        const int lane = 4 * (i / 8) + i % 8 / 2;
        d[2 * (i % 2) * kLanes + lane] = static_cast<std::uint32_t>(sums[static_cast<std::size_t>(i)]);
        d[(2 * (i % 2) + 1) * kLanes + lane] = static_cast<std::uint32_t>(sums[static_cast<std::size_t>(i)] >> 32);
    }
}

[[noreturn]] void refuse(const MmaKind& kind, TensorCoreModel model) {
    throw SpecError("tensor-core instruction",
                    {fmt::format("{} is not one that sm_{} has", to_string(kind), row_of(model).first_capability)});
}

}  // namespace

TensorCoreModel tensor_core_model(int compute_capability) {
    if (compute_capability < kModels.front().first_capability)
        throw SpecError("tensor cores", {fmt::format("compute capability {} is not modelled: the first is {}",
                                                     compute_capability, kModels.front().first_capability)});
    const auto* const next = std::ranges::upper_bound(kModels, compute_capability, {}, &ModelRow::first_capability);
    return std::prev(next)->model;
}

bool is_supported(const MmaKind& kind, TensorCoreModel model) {
    if (!is_supported(kind) || (is_float8(kind.a) && !row_of(model).has_fp8)) return false;
    // Turing has f16 m16n8k8 and the m8n8 shapes of integers.
    const bool turing = (kind.a == MmaType::f16 && kind.k == 8) || (is_integer(kind.a) && kind.m == 8);
    return model != TensorCoreModel::turing || turing;
}

void mma(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
         const std::uint32_t* c, std::uint32_t* d) {
    if (!is_supported(kind, model)) refuse(kind, model);
    const MmaPlan& plan = *find_mma_plan(kind);
    if (kind.a == MmaType::f64) return multiply_f64(a, b, c, d);
    if (is_integer(kind.a)) return multiply_integers(plan, kind.saturate, a, b, c, d);
    multiply_floats(plan, row_of(model), a, b, c, d);
}

void wmma(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
          const std::uint32_t* c, std::uint32_t* d) {
    const MmaPlan* const plan = find_wmma_plan(kind);
    if (plan == nullptr || (model == TensorCoreModel::turing && kind.a == MmaType::bf16)) refuse(kind, model);
    multiply_floats(*plan, row_of(model), a, b, c, d);
}

void wgmma_rows(const WgmmaTypes& types, int n, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c) {
    constexpr int kRows = 16;
    const int depth = 256 / type_bits(types.a);
    if (is_integer(types.a))
        return add_integer_products({kRows, n, depth, types.a, types.b, types.sums, types.sums}, a, b, c);
    FloatTile tile;
    tile.m = kRows;
    tile.k = depth;
    tile.type_a = float_type(types.a);
    tile.type_b = float_type(types.b);
    const SumRule rule = wgmma_sum_rule({kRows, n, depth, types.a, types.b, types.sums, types.sums});
    std::copy_n(a, kRows * depth, tile.a.begin());
    for (int first = 0; first < n; first += tile.n) {
        tile.n = std::min(n - first, static_cast<int>(FloatTile::kMaxColumns));
        const auto at = [&](int row) {
            return static_cast<std::size_t>(row) * static_cast<std::size_t>(n) + static_cast<std::size_t>(first);
        };
        for (int k = 0; k < depth; ++k) std::copy_n(b + at(k), tile.n, &tile.b[tile.at_b(k, 0)]);
        for (int row = 0; row < kRows; ++row) std::copy_n(c + at(row), tile.n, &tile.c[tile.at_c(row, 0)]);
        accumulate_fused(tile, rule);
        for (int row = 0; row < kRows; ++row) std::copy_n(&tile.c[tile.at_c(row, 0)], tile.n, c + at(row));
    }
}

}  // namespace jitgemm::emulator
