#include "runtime/emulator/tensor_core.hpp"

#include "generator/error.hpp"
#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/fused_sum.hpp"
#include "runtime/emulator/mma_fragments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace jitgemm::emulator {
namespace {

constexpr int kWarpLanes = 32;

// ---- models ----------------------------------------------------------------------------------------------------------

/// One row a generation. Figures: docs/emulator-numerics.md, "Parameters".
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

bool is_fp8(MmaType type) { return type == MmaType::e4m3 || type == MmaType::e5m2; }
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
    const bool native_fp8 = is_fp8(kind.a) && !row.fp8_as_f16;
    SumRule rule{native_fp8 ? row.fp8_fraction_bits : row.fraction_bits,
                 row.block_bytes * 8 / (native_fp8 ? 8 : std::max(type_bits(kind.a), 16)), row.zero_exponent,
                 native_fp8 ? row.fp8_output : SumOutput::f32};
    if (kind.d == MmaType::f16) rule.output = SumOutput::f16;
    return rule;
}

// ---- one dot-product engine a class of types, on matrices -------------------------------------------------------------

/// Rounded once, at the end of each instruction that ptxas makes of an fp8 mma.sync: f16 products of the first two of
/// every four k, then of the others, from zero, and an ordinary addition of C.
void fp8_through_f16(const MmaKind& kind, const ModelRow& row, FloatTile& tile) {
    FloatTile halves{tile.m, tile.n, tile.k, FloatType::f16, FloatType::f16, {}, {}, {}};
    for (int i = 0; i < tile.k; ++i) {
        const int source = 4 * (i % (tile.k / 2) / 2) + i % 2 + (i < tile.k / 2 ? 0 : 2);
        const auto widened = [](FloatType type, std::uint32_t bits) {
            return static_cast<std::uint32_t>(convert_float(type, FloatType::f16, bits));
        };
        for (int r = 0; r < tile.m; ++r)
            halves.a[static_cast<std::size_t>(r * tile.k + i)] =
                widened(tile.type_a, tile.a[static_cast<std::size_t>(r * tile.k + source)]);
        for (int c = 0; c < tile.n; ++c)
            halves.b[static_cast<std::size_t>(i * tile.n + c)] =
                widened(tile.type_b, tile.b[static_cast<std::size_t>(source * tile.n + c)]);
    }
    SumRule rule = sum_rule(kind, row);
    rule.block = std::min(rule.block, tile.k / 2);
    accumulate_fused(halves, rule);
    for (std::size_t i = 0; i < static_cast<std::size_t>(tile.m * tile.n); ++i) {
        tile.c[i] = rule.output == SumOutput::f16
                        ? add_f16(static_cast<std::uint16_t>(tile.c[i]), static_cast<std::uint16_t>(halves.c[i]))
                        : add_f32(tile.c[i], halves.c[i]);
    }
}

void multiply_floats(const MmaKind& kind, const ModelRow& row, FloatTile& tile) {
    if (is_fp8(kind.a) && row.fp8_as_f16) return fp8_through_f16(kind, row, tile);
    accumulate_fused(tile, sum_rule(kind, row));
}

std::int64_t integer_value(MmaType type, std::uint32_t bits) {
    const int unused = 32 - type_bits(type);
    const bool is_signed = type == MmaType::s8 || type == MmaType::s4;
    return is_signed ? static_cast<std::int32_t>(bits << unused) >> unused : static_cast<std::int64_t>(bits);
}

void multiply_integers(const MmaKind& kind, const WordMatrices& words, std::uint32_t* c) {
    for (int row = 0; row < kind.m; ++row) {
        for (int column = 0; column < kind.n; ++column) {
            std::uint32_t& cell = c[row * kind.n + column];
            std::int64_t sum = static_cast<std::int32_t>(cell);
            for (int i = 0; i < kind.k; ++i)
                sum += integer_value(kind.a, words.a[static_cast<std::size_t>(row * kind.k + i)]) *
                       integer_value(kind.b, words.b[static_cast<std::size_t>(i * kind.n + column)]);
            using Limits = std::numeric_limits<std::int32_t>;
            if (kind.saturate) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
            cell = static_cast<std::uint32_t>(sum);
        }
    }
}

/// m8n8k4.f64: a chain of fused multiply-adds in the order of k. Its operands need no matrices: lane 4·row + k holds
/// A(row, k), lane 4·column + k B(k, column), lane 4·row + t C(row, 2·t) and C(row, 2·t + 1).
void multiply_f64(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d) {
    const auto word64 = [](const std::uint32_t* registers, int index, int lane) {
        return static_cast<std::uint64_t>(registers[(2 * index + 1) * kWarpLanes + lane]) << 32 |
               registers[2 * index * kWarpLanes + lane];
    };
    std::array<std::uint64_t, 64> sums{};
    for (int i = 0; i < 64; ++i) {
        const int row = i / 8;
        const int column = i % 8;
        std::uint64_t sum = word64(c, column % 2, 4 * row + column / 2);
        for (int k = 0; k < 4; ++k)
            sum = fma(FloatType::f64, word64(a, 0, 4 * row + k), word64(b, 0, 4 * column + k), sum);
        sums[static_cast<std::size_t>(i)] = sum;
    }
    for (int i = 0; i < 64; ++i) {
        const int lane = 4 * (i / 8) + i % 8 / 2;
        d[2 * (i % 2) * kWarpLanes + lane] = static_cast<std::uint32_t>(sums[static_cast<std::size_t>(i)]);
        d[(2 * (i % 2) + 1) * kWarpLanes + lane] = static_cast<std::uint32_t>(sums[static_cast<std::size_t>(i)] >> 32);
    }
}

[[noreturn]] void refuse(const MmaKind& kind, TensorCoreModel model) {
    throw SpecError("tensor-core instruction",
                    {fmt::format("{} is not one that sm_{} has", to_string(kind), row_of(model).first_capability)});
}

/// Both mma and wmma: they differ in where the elements lie.
template <typename Fragments>
void multiply(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
              const std::uint32_t* c, std::uint32_t* d) {
    if (is_integer(kind.a)) {
        WordMatrices words;
        Fragments::gather_a(kind, a, words.a.data());
        Fragments::gather_b(kind, b, words.b.data());
        std::array<std::uint32_t, 16 * 8> sums{};
        Fragments::gather_c(kind, c, sums.data());
        multiply_integers(kind, words, sums.data());
        return Fragments::scatter_c(kind, sums.data(), d);
    }
    FloatTile tile;
    tile.m = kind.m;
    tile.n = kind.n;
    tile.k = kind.k;
    tile.type_a = float_type(kind.a);
    tile.type_b = float_type(kind.b);
    Fragments::gather_a(kind, a, tile.a.data());
    Fragments::gather_b(kind, b, tile.b.data());
    Fragments::gather_c(kind, c, tile.c.data());
    multiply_floats(kind, row_of(model), tile);
    Fragments::scatter_c(kind, tile.c.data(), d);
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
    if (!is_supported(kind) || (is_fp8(kind.a) && !row_of(model).has_fp8)) return false;
    // Turing has f16 m16n8k8 and the m8n8 shapes of integers.
    const bool turing = (kind.a == MmaType::f16 && kind.k == 8) || (is_integer(kind.a) && kind.m == 8);
    return model != TensorCoreModel::turing || turing;
}

void mma(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
         const std::uint32_t* c, std::uint32_t* d) {
    if (!is_supported(kind, model)) refuse(kind, model);
    if (kind.a == MmaType::f64) return multiply_f64(a, b, c, d);
    multiply<MmaFragments>(kind, model, a, b, c, d);
}

void wmma(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
          const std::uint32_t* c, std::uint32_t* d) {
    if (!is_supported_wmma(kind) || (model == TensorCoreModel::turing && kind.a == MmaType::bf16)) refuse(kind, model);
    multiply<WmmaFragments>(kind, model, a, b, c, d);
}

}  // namespace jitgemm::emulator
