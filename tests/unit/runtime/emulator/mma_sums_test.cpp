// Properties of mma's sums of floating-point products that were published or measured.

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/mma_warp.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::emulator;
using namespace jitgemm::testing;

namespace {

constexpr MmaKind kF16Sum{16, 8, 16, MmaType::f16, MmaType::f16, MmaType::f16, MmaType::f16};
constexpr MmaKind kTf32{16, 8, 8, MmaType::tf32, MmaType::tf32, MmaType::f32, MmaType::f32};

/// D(0, 0) of a dot product of f16 given as numbers.
float dot_f16(TensorCoreModel model, const std::vector<std::pair<float, float>>& terms, float c) {
    MmaWarp warp(kF16);
    for (int k = 0; k < static_cast<int>(terms.size()); ++k) {
        warp.set(Operand::a, {0, k}, f16_from_f32(terms[static_cast<std::size_t>(k)].first));
        warp.set(Operand::b, {0, k}, f16_from_f32(terms[static_cast<std::size_t>(k)].second));
    }
    warp.set(Operand::c, {0, 0}, std::bit_cast<std::uint32_t>(c));
    warp.run(model);
    return std::bit_cast<float>(warp.get(Operand::c, {0, 0}));
}

}  // namespace

// Fasi, Higham, Mikaitis, Pranesh 2021, section 3: what the experiments on the A100 and V100 showed.
TEST_CASE("published properties of the sum hold") {
    const float tiny = 0x1p-24F;
    SECTION("additions start from the largest addend: small products next to a large accumulator are lost") {
        // Eight products of 2^-25 and c = 1: each is cut off alone, although together they are 2^-22.
        const std::vector<std::pair<float, float>> terms(8, {tiny, 0.5F});
        REQUIRE(dot_f16(TensorCoreModel::ampere, terms, 1.0F) == 1.0F);
        REQUIRE(dot_f16(TensorCoreModel::hopper, terms, 1.0F) == 1.0F + 0x1p-22F);  // 25 fraction bits keep them
    }
    SECTION("one more bit below the result's last is kept") {
        const std::vector<std::pair<float, float>> terms(2, {tiny, 1.0F});
        REQUIRE(dot_f16(TensorCoreModel::ampere, terms, 1.0F) == 1.0F + 0x1p-23F);
    }
    SECTION("results are rounded towards zero") {
        REQUIRE(dot_f16(TensorCoreModel::ampere, {{tiny, 1.0F}, {0x1.8p-1F, 1.0F}}, 0.25F) == 1.0F);
        REQUIRE(dot_f16(TensorCoreModel::ampere, {{-tiny, 1.0F}, {-0x1.8p-1F, 1.0F}}, -0.25F) == -1.0F);
    }
    SECTION("products of subnormal numbers count") {
        REQUIRE(dot_f16(TensorCoreModel::ampere, {{tiny, tiny}}, 0.0F) == 0x1p-48F);
    }
    SECTION("products are not normalised before they are aligned: 1.5 · 1.5 counts as 2^0") {
        // With the exponent of 2.25 as the unit, 24 fraction bits would end at 2^-23 and lose 2^-24.
        REQUIRE(dot_f16(TensorCoreModel::ampere, {{1.5F, 1.5F}, {tiny, 1.0F}, {-1.5F, 1.5F}}, 0.0F) == 0.0F + tiny);
    }
    SECTION("Ampere sums the halves of k = 16 one after the other, Hopper all at once") {
        std::vector<std::pair<float, float>> terms(16, {0.0F, 0.0F});
        terms[0] = {1024.0F, 1024.0F};   // 2^20
        terms[1] = {-1024.0F, 1024.0F};  // cancels within the first half
        terms[8] = {0x1p-10F, 0x1p-10F};
        REQUIRE(dot_f16(TensorCoreModel::ampere, terms, 0.0F) == 0x1p-20F);
        REQUIRE(dot_f16(TensorCoreModel::hopper, terms, 0.0F) == 0.0F);
    }
}

// MMA-Sim's probe of "the exponent of zero": products of 0 and an accumulator of 0 count as 2^-132 (Hopper: 2^-133)
// when the largest exponent is sought, which cuts off what lies 24 (25) bits below.
TEST_CASE("zeros limit how small a term may be") {
    const auto dot = [](TensorCoreModel model, int exponent) {
        MmaWarp warp(kBf16);
        const auto set = [&warp](int k, float a, float b) {
            warp.set(Operand::a, {0, k}, bf16_from_f32(a));
            warp.set(Operand::b, {0, k}, bf16_from_f32(b));
        };
        set(0, 0x1p-23F, 0x1p-126F);
        set(1, -std::ldexp(1.0F, exponent + 126), 0x1p-126F);
        warp.run(model);
        return warp.get(Operand::c, {0, 0});
    };
    // 2^-149, the smallest f32, less a term that counts makes 0, rounded towards zero.
    REQUIRE(dot(TensorCoreModel::ampere, -156) == 0U);
    REQUIRE(dot(TensorCoreModel::ampere, -157) == 1U);
    REQUIRE(dot(TensorCoreModel::hopper, -158) == 0U);
    REQUIRE(dot(TensorCoreModel::hopper, -159) == 1U);
}

TEST_CASE("special values") {
    const float infinity = HUGE_VALF;
    const auto nan_bits = [](float value) { return std::bit_cast<std::uint32_t>(value) == 0x7fffffffU; };
    const TensorCoreModel model = TensorCoreModel::hopper;
    REQUIRE(dot_f16(model, {{infinity, 1.0F}}, 0.0F) == infinity);
    REQUIRE(dot_f16(model, {{infinity, -1.0F}}, 5.0F) == -infinity);
    REQUIRE(dot_f16(model, {{1.0F, 1.0F}}, -infinity) == -infinity);
    REQUIRE(nan_bits(dot_f16(model, {{infinity, 0.0F}}, 0.0F)));
    REQUIRE(nan_bits(dot_f16(model, {{infinity, 1.0F}, {infinity, -1.0F}}, 0.0F)));
    REQUIRE(nan_bits(dot_f16(model, {{infinity, 1.0F}}, -infinity)));
    REQUIRE(nan_bits(dot_f16(model, {{std::nanf(""), 0.0F}}, 0.0F)));
    REQUIRE(std::bit_cast<std::uint32_t>(dot_f16(model, {{-0.0F, 1.0F}}, -0.0F)) == 0U);
    // Beyond the largest f32: infinity, not the largest finite number.
    REQUIRE(dot_f16(model, {{65504.0F, 65504.0F}}, 0x1.fffffep127F) == 0x1.fffffep127F);
    MmaWarp bf16(kBf16);
    bf16.set(Operand::a, {3, 2}, 0x7f00);  // 2^127
    bf16.set(Operand::b, {4, 2}, 0x4000);  // 2
    bf16.run(model);
    REQUIRE(bf16.get(Operand::c, {3, 4}) == 0x7f800000U);
    REQUIRE(bf16.get(Operand::c, {3, 5}) == 0U);
}

TEST_CASE("f16 sums round to nearest even and overflow to infinity") {
    const auto sum = [](float a, float b, float c) {
        MmaWarp warp(kF16Sum);
        warp.set(Operand::a, {15, 15}, f16_from_f32(a));
        warp.set(Operand::b, {7, 15}, f16_from_f32(b));
        warp.set(Operand::c, {15, 7}, f16_from_f32(c));
        warp.run(TensorCoreModel::hopper);
        return f32_from_f16(static_cast<std::uint16_t>(warp.get(Operand::c, {15, 7})));
    };
    REQUIRE(sum(1.0F, 1.0F, 2048.0F) == 2048.0F);
    REQUIRE(sum(1.0F, 3.0F, 2048.0F) == 2052.0F);
    REQUIRE(sum(16.0F, 1.0F, 65504.0F) == HUGE_VALF);
    REQUIRE(sum(15.0F, 1.0F, 65504.0F) == 65504.0F);
    // -2^-34 is far below half a step of f16: the zero it rounds to is +0 (measured on sm_90).
    REQUIRE(std::bit_cast<std::uint32_t>(sum(0x1p-24F, -0x1p-10F, 0.0F)) == 0U);
    REQUIRE(sum(-0x1p-14F, 0x1p-10F, 0.0F) == -0x1p-24F);
}

TEST_CASE("tf32 operands are cut off to 10 fraction bits") {
    MmaWarp warp(kTf32);
    warp.set(Operand::a, {0, 0}, std::bit_cast<std::uint32_t>(1.0F) | 0x1fffU);
    warp.set(Operand::b, {0, 0}, std::bit_cast<std::uint32_t>(3.0F));
    warp.run(TensorCoreModel::ampere);
    REQUIRE(std::bit_cast<float>(warp.get(Operand::c, {0, 0})) == 3.0F);
}

TEST_CASE("fp8 on Hopper: f16 sums of the first and the second two of every four k, then C") {
    const MmaKind kind{16, 8, 32, MmaType::e4m3, MmaType::e5m2, MmaType::f32, MmaType::f32};
    RandomBits random(7);
    MmaWarp warp(kind);
    MmaWarp halves(kF16);
    std::array<MmaWarp, 2> parts{halves, halves};
    for (int k = 0; k < 32; ++k) {
        MmaWarp& part = parts[static_cast<std::size_t>(k % 4 / 2)];
        const int at = k / 4 * 2 + k % 2;
        for (int row = 0; row < 16; ++row) {
            const std::uint32_t bits = random_element(random, MmaType::e4m3, true);
            warp.set(Operand::a, {row, k}, bits);
            part.set(Operand::a, {row, at}, element_bits(number(MmaType::e4m3, bits), DataType::f16));
        }
        for (int column = 0; column < 8; ++column) {
            const std::uint32_t bits = random_element(random, MmaType::e5m2, true);
            warp.set(Operand::b, {column, k}, bits);
            part.set(Operand::b, {column, at}, element_bits(number(MmaType::e5m2, bits), DataType::f16));
        }
    }
    for (std::uint32_t& bits : warp.c) bits = random_element(random, MmaType::f32, false);
    parts[0].run(TensorCoreModel::hopper);
    parts[1].c = parts[0].c;
    parts[1].run(TensorCoreModel::hopper);
    MmaWarp result = warp;
    result.run(TensorCoreModel::hopper);
    for (std::size_t i = 0; i < warp.c.size(); ++i)
        REQUIRE(std::bit_cast<float>(result.c[i]) ==
                std::bit_cast<float>(warp.c[i]) + std::bit_cast<float>(parts[1].c[i]));
}

TEST_CASE("small whole numbers are exact in every instruction and generation", "[heavy]") {
    RandomBits random(2);
    for (const TensorCoreModel model : {TensorCoreModel::ampere, TensorCoreModel::ada, TensorCoreModel::hopper}) {
        for (const MmaKind& kind : mma_kinds()) {
            if (kind.d != MmaType::f32 && kind.d != MmaType::f16) continue;
            if (!is_supported(kind, model)) continue;
            MmaWarp warp(kind);
            std::map<std::pair<int, int>, int> a, b;
            for (int k = 0; k < kind.k; ++k) {
                for (int row = 0; row < kind.m; ++row) {
                    a[{row, k}] = static_cast<int>(random.below(7)) - 3;
                    warp.set(Operand::a, {row, k}, element_bits(a[{row, k}], data_type(kind.a)));
                }
                for (int column = 0; column < kind.n; ++column) {
                    b[{column, k}] = static_cast<int>(random.below(7)) - 3;
                    warp.set(Operand::b, {column, k}, element_bits(b[{column, k}], data_type(kind.b)));
                }
            }
            warp.run(model);
            for (int row = 0; row < kind.m; ++row) {
                for (int column = 0; column < kind.n; ++column) {
                    int sum = 0;
                    for (int k = 0; k < kind.k; ++k) sum += a[{row, k}] * b[{column, k}];
                    INFO(to_string(kind));
                    REQUIRE(number(kind.d, warp.get(Operand::c, {row, column})) == sum);
                }
            }
        }
    }
}
