// Sums of mma against the papers' formula, written once more in doubles: significand times a power of two.

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/mma_warp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::emulator;
using namespace jitgemm::testing;

namespace {

/// Exponent of a number in its format: that of the smallest normal number for subnormal ones.
int exponent_in(MmaType type, double value) {
    const std::map<MmaType, int> smallest{{MmaType::f16, -14}, {MmaType::bf16, -126}, {MmaType::tf32, -126},
                                          {MmaType::e4m3, -6}, {MmaType::e5m2, -14},  {MmaType::f32, -126}};
    return std::max(std::ilogb(value), smallest.at(type));
}

struct Parameters {
    int fraction_bits;
    int block_bytes;
    int zero_exponent;
    int f32_fraction_bits;
};
Parameters parameters(TensorCoreModel model, const MmaKind& kind) {
    const bool recent = model >= TensorCoreModel::hopper;
    const bool narrow = model == TensorCoreModel::ada && bits_of(kind.a) == 8;
    return {narrow ? 13 : (recent ? 25 : 24), recent ? 32 : 16, recent ? -133 : -132, narrow ? 13 : 23};
}

double rounded(double value, MmaType type, int fraction_bits, bool nearest) {
    if (value == 0.0) return 0.0;
    const int step = exponent_in(type, value) - fraction_bits;
    const double scaled = std::ldexp(value, -step);
    return std::ldexp(nearest ? std::nearbyint(scaled) : std::trunc(scaled), step) + 0.0;  // -0 becomes +0
}

double fused_sum(const MmaKind& kind, const std::vector<std::pair<double, double>>& terms, double c, int fraction_bits,
                 int zero_exponent, int result_bits) {
    std::vector<std::pair<double, int>> summands;
    const auto add = [&](double value, int exponent) {
        summands.emplace_back(value, value == 0.0 ? zero_exponent : exponent);
    };
    add(c, c == 0.0 ? 0 : exponent_in(kind.c, c));
    for (const auto& [a, b] : terms) add(a * b, a * b == 0.0 ? 0 : exponent_in(kind.a, a) + exponent_in(kind.b, b));
    int largest = zero_exponent - 2000;
    for (const auto& [value, exponent] : summands) largest = std::max(largest, exponent);
    double sum = 0.0;
    for (const auto& [value, exponent] : summands)
        sum += std::ldexp(std::trunc(std::ldexp(value, fraction_bits - largest)), largest - fraction_bits);
    return rounded(sum, kind.d, result_bits, kind.d == MmaType::f16);
}

std::uint32_t expected_bits(double value, MmaType type) {
    if (type == MmaType::f32) {
        // Towards zero happened before: what is beyond the range now is infinite.
        return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    return element_bits(value, DataType::f16);
}

/// Element (row, column) of D by the formula, block of k by block.
double expected_element(const MmaWarp& warp, const Parameters& parameters, int row, int column) {
    const MmaKind& kind = warp.kind;
    const int block = std::min(kind.k, parameters.block_bytes * 8 / bits_of(kind.a));
    const int result_bits = kind.d == MmaType::f16 ? 10 : parameters.f32_fraction_bits;
    double sum = number(kind.c, warp.get(Operand::c, {row, column}));
    for (int first = 0; first < kind.k; first += block) {
        std::vector<std::pair<double, double>> terms;
        for (int k = first; k < first + block; ++k)
            terms.emplace_back(number(kind.a, warp.get(Operand::a, {row, k})),
                               number(kind.b, warp.get(Operand::b, {column, k})));
        if (std::isfinite(sum))
            sum = fused_sum(kind, terms, sum, parameters.fraction_bits, parameters.zero_exponent, result_bits);
        if (kind.d == MmaType::f16 && std::fabs(sum) > 65504.0) sum = std::copysign(HUGE_VAL, sum);
        if (kind.d == MmaType::f32) sum = static_cast<double>(static_cast<float>(sum));
    }
    return sum;
}

MmaWarp random_warp(const MmaKind& kind, RandomBits& random, bool wide) {
    MmaWarp warp(kind);
    warp.draw_operands(random, wide);
    for (int row = 0; row < kind.m; ++row)
        for (int column = 0; column < kind.n; ++column)
            warp.set(Operand::c, {row, column}, random_element(random, kind.c, wide));
    return warp;
}

void compare_with_formula(const MmaKind& kind, TensorCoreModel model, int rounds, RandomBits& random) {
    const Parameters parameters_of_model = parameters(model, kind);
    for (int round = 0; round < rounds; ++round) {
        const MmaWarp warp = random_warp(kind, random, round % 2 == 0);
        MmaWarp result = warp;
        result.run(model);
        for (int row = 0; row < kind.m; ++row) {
            for (int column = 0; column < kind.n; ++column) {
                INFO(to_string(kind) << " round " << round << " row " << row << " column " << column);
                const double expected = expected_element(warp, parameters_of_model, row, column);
                REQUIRE(result.get(Operand::c, {row, column}) == expected_bits(expected, kind.d));
            }
        }
    }
}

}  // namespace

TEST_CASE("sums are the papers' formula, for random operands of every size", "[heavy]") {
    RandomBits random(1);
    for (const TensorCoreModel model : {TensorCoreModel::ampere, TensorCoreModel::hopper}) {
        for (const MmaKind& kind : mma_kinds()) {
            const bool sixteen_or_tf32 = kind.a == MmaType::f16 || kind.a == MmaType::bf16 || kind.a == MmaType::tf32;
            if (sixteen_or_tf32) compare_with_formula(kind, model, 6, random);
        }
    }
    for (const MmaKind& kind : mma_kinds())
        if ((kind.a == MmaType::e4m3 || kind.a == MmaType::e5m2) && kind.k == 32)
            for (const TensorCoreModel model : {TensorCoreModel::ada, TensorCoreModel::blackwell_rtx})
                compare_with_formula(kind, model, 3, random);
}
