#include "runtime/emulator/tensor_core.hpp"

#include "generator/error.hpp"
#include "runtime/half.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::emulator;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::RandomBits;

namespace {

constexpr int kLanes = 32;

/// Where a lane's register lies among a warp's.
std::size_t position(int index, int lane) {
    return static_cast<std::size_t>(index) * kLanes + static_cast<std::size_t>(lane);
}

int bits_of(MmaType type) {
    switch (type) {
        case MmaType::f16:
        case MmaType::bf16: return 16;
        case MmaType::e4m3:
        case MmaType::e5m2:
        case MmaType::s8:
        case MmaType::u8: return 8;
        case MmaType::s4:
        case MmaType::u4: return 4;
        case MmaType::f64: return 64;
        default: return 32;
    }
}

/// A warp's registers of the three operands.
struct Warp {
    explicit Warp(const MmaKind& mma_kind, bool is_wmma = false) : kind(mma_kind), wmma_form(is_wmma) {
        const MmaRegisters count = is_wmma ? wmma_registers(kind) : mma_registers(kind);
        a.resize(position(count.a, 0));
        b.resize(position(count.b, 0));
        c.resize(position(count.c, 0));
    }

    [[nodiscard]] std::vector<std::uint32_t>& of(Operand operand) {
        if (operand == Operand::a) return a;
        return operand == Operand::b ? b : c;
    }
    [[nodiscard]] MmaType type(Operand operand) const {
        if (operand == Operand::a) return kind.a;
        return operand == Operand::b ? kind.b : kind.c;
    }
    [[nodiscard]] int elements(Operand operand) const {
        return wmma_form ? wmma_elements(kind, operand) : mma_elements(kind, operand);
    }
    [[nodiscard]] Coordinate coordinate(Operand operand, int lane, int i) const {
        return wmma_form ? wmma_coordinate(kind, operand, lane, i) : mma_coordinate(kind, operand, lane, i);
    }

    void set(Operand operand, Coordinate at, std::uint32_t bits) {
        const int width = bits_of(type(operand));
        for (int lane = 0; lane < kLanes; ++lane) {
            for (int i = 0; i < elements(operand); ++i) {
                if (coordinate(operand, lane, i) != at) continue;
                const int shift = i * width % 32;
                std::uint32_t& word = of(operand)[position(i * width / 32, lane)];
                const std::uint32_t mask = (0xffffffffU >> (32 - width)) << shift;
                word = (word & ~mask) | (bits << shift);
            }
        }
    }
    [[nodiscard]] std::uint32_t get(Operand operand, Coordinate at) {
        const int width = bits_of(type(operand));
        for (int lane = 0; lane < kLanes; ++lane) {
            for (int i = 0; i < elements(operand); ++i) {
                if (coordinate(operand, lane, i) != at) continue;
                const std::uint32_t word = of(operand)[position(i * width / 32, lane)];
                return (word >> (i * width % 32)) & (0xffffffffU >> (32 - width));
            }
        }
        FAIL("no lane holds the element");
        return 0;
    }
    void run(TensorCoreModel model) { (wmma_form ? wmma : mma)(kind, model, a.data(), b.data(), c.data(), c.data()); }

    MmaKind kind;
    bool wmma_form;
    std::vector<std::uint32_t> a;
    std::vector<std::uint32_t> b;
    std::vector<std::uint32_t> c;
};

constexpr MmaKind kF16{16, 8, 16, MmaType::f16, MmaType::f16, MmaType::f32, MmaType::f32};
constexpr MmaKind kF16Sum{16, 8, 16, MmaType::f16, MmaType::f16, MmaType::f16, MmaType::f16};
constexpr MmaKind kBf16{16, 8, 16, MmaType::bf16, MmaType::bf16, MmaType::f32, MmaType::f32};
constexpr MmaKind kTf32{16, 8, 8, MmaType::tf32, MmaType::tf32, MmaType::f32, MmaType::f32};

/// D(0, 0) of a dot product of f16 given as numbers.
float dot_f16(TensorCoreModel model, const std::vector<std::pair<float, float>>& terms, float c) {
    Warp warp(kF16);
    for (int k = 0; k < static_cast<int>(terms.size()); ++k) {
        warp.set(Operand::a, {0, k}, f16_from_f32(terms[static_cast<std::size_t>(k)].first));
        warp.set(Operand::b, {0, k}, f16_from_f32(terms[static_cast<std::size_t>(k)].second));
    }
    warp.set(Operand::c, {0, 0}, std::bit_cast<std::uint32_t>(c));
    warp.run(model);
    return std::bit_cast<float>(warp.get(Operand::c, {0, 0}));
}

// ---- the sum as the papers write it, in doubles: significand times a power of two ------------------------------------

DataType data_type(MmaType type) {
    switch (type) {
        case MmaType::f16: return DataType::f16;
        case MmaType::bf16: return DataType::bf16;
        case MmaType::tf32: return DataType::tf32;
        case MmaType::e4m3: return DataType::e4m3;
        case MmaType::e5m2: return DataType::e5m2;
        default: return DataType::f32;
    }
}

double number(MmaType type, std::uint32_t bits) {
    if (type == MmaType::tf32) bits &= 0xffffe000U;
    return element_value(&bits, data_type(type), 0);
}

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

/// Random finite bits of a type, with exponents of all sizes or close together.
std::uint32_t random_element(RandomBits& random, MmaType type, bool wide) {
    const int width = bits_of(type);
    for (;;) {
        const auto bits = static_cast<std::uint32_t>(random.next()) & (0xffffffffU >> (32 - width));
        const double value = number(type, bits);
        if (!std::isfinite(value)) continue;
        if (wide || (std::fabs(value) < 64.0 && std::fabs(value) > 1.0 / 64.0)) return bits;
    }
}

void compare_with_formula(const MmaKind& kind, TensorCoreModel model, int rounds, RandomBits& random) {
    const Parameters parameters_of_model = parameters(model, kind);
    const int block = std::min(kind.k, parameters_of_model.block_bytes * 8 / bits_of(kind.a));
    for (int round = 0; round < rounds; ++round) {
        Warp warp(kind);
        const bool wide = round % 2 == 0;
        for (int k = 0; k < kind.k; ++k) {
            for (int row = 0; row < kind.m; ++row) warp.set(Operand::a, {row, k}, random_element(random, kind.a, wide));
            for (int column = 0; column < kind.n; ++column)
                warp.set(Operand::b, {column, k}, random_element(random, kind.b, wide));
        }
        for (int row = 0; row < kind.m; ++row)
            for (int column = 0; column < kind.n; ++column)
                warp.set(Operand::c, {row, column}, random_element(random, kind.c, wide));
        Warp result = warp;
        result.run(model);
        for (int row = 0; row < kind.m; ++row) {
            for (int column = 0; column < kind.n; ++column) {
                double sum = number(kind.c, warp.get(Operand::c, {row, column}));
                for (int first = 0; first < kind.k; first += block) {
                    std::vector<std::pair<double, double>> terms;
                    for (int k = first; k < first + block; ++k)
                        terms.emplace_back(number(kind.a, warp.get(Operand::a, {row, k})),
                                           number(kind.b, warp.get(Operand::b, {column, k})));
                    if (std::isfinite(sum))
                        sum = fused_sum(kind, terms, sum, parameters_of_model.fraction_bits,
                                        parameters_of_model.zero_exponent,
                                        kind.d == MmaType::f16 ? 10 : parameters_of_model.f32_fraction_bits);
                    if (kind.d == MmaType::f16 && std::fabs(sum) > 65504.0) sum = std::copysign(HUGE_VAL, sum);
                    if (kind.d == MmaType::f32) sum = static_cast<double>(static_cast<float>(sum));
                }
                INFO(to_string(kind) << " round " << round << " row " << row << " column " << column);
                REQUIRE(result.get(Operand::c, {row, column}) == expected_bits(sum, kind.d));
            }
        }
    }
}

}  // namespace

// ---- layouts ---------------------------------------------------------------------------------------------------------

TEST_CASE("fragments of mma lie as the instruction table has them") {
    int compared = 0;
    for (const MmaKind& kind : mma_kinds()) {
        for (const MmaAtom& atom : mma_atom_table()) {
            const bool same = std::string(atom.ptx_name)
                                  .find("." + to_string(kind).substr(0, to_string(kind).find('.')) + ".row.col" +
                                        to_string(kind).substr(to_string(kind).find('.'))) != std::string::npos;
            if (!same) continue;
            ++compared;
            for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
                REQUIRE(mma_elements(kind, operand) == atom.layout(operand).values());
                for (int lane = 0; lane < kLanes; ++lane)
                    for (int i = 0; i < mma_elements(kind, operand); ++i)
                        REQUIRE(mma_coordinate(kind, operand, lane, i) == atom.layout(operand).coordinate(lane, i));
            }
        }
    }
    REQUIRE(compared == static_cast<int>(mma_kinds().size()));  // each is in the table once; .satfinite forms lie alike
}

TEST_CASE("every element of an mma's operands lies in exactly one place") {
    for (const MmaKind& kind : mma_kinds()) {
        for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
            std::set<std::pair<int, int>> seen;
            for (int lane = 0; lane < kLanes; ++lane) {
                for (int i = 0; i < mma_elements(kind, operand); ++i) {
                    const Coordinate at = mma_coordinate(kind, operand, lane, i);
                    REQUIRE(at.row < (operand == Operand::b ? kind.n : kind.m));
                    REQUIRE(at.column < (operand == Operand::c ? kind.n : kind.k));
                    REQUIRE(seen.emplace(at.row, at.column).second);
                }
            }
            REQUIRE(static_cast<int>(seen.size()) == kLanes * mma_elements(kind, operand));
        }
    }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k32" and "m16n8k64": the formulas of the figures.
TEST_CASE("8-bit and 4-bit fragments lie as the PTX ISA says") {
    const MmaKind s8{16, 8, 32, MmaType::s8, MmaType::s8, MmaType::s32, MmaType::s32};
    REQUIRE(mma_coordinate(s8, Operand::a, 5, 0) == Coordinate{1, 4});
    REQUIRE(mma_coordinate(s8, Operand::a, 5, 7) == Coordinate{9, 7});
    REQUIRE(mma_coordinate(s8, Operand::a, 5, 8) == Coordinate{1, 20});
    REQUIRE(mma_coordinate(s8, Operand::b, 31, 5) == Coordinate{7, 29});
    const MmaKind s4{16, 8, 64, MmaType::s4, MmaType::s4, MmaType::s32, MmaType::s32};
    REQUIRE(mma_coordinate(s4, Operand::a, 6, 9) == Coordinate{9, 17});
    REQUIRE(mma_coordinate(s4, Operand::b, 6, 15) == Coordinate{1, 55});
    const MmaRegisters registers = mma_registers(s4);
    REQUIRE(registers.a == 4);
    REQUIRE(registers.b == 2);
    REQUIRE(registers.c == 4);
}

TEST_CASE("wmma fragments have the registers of the PTX ISA and hold every element") {
    const MmaKind f16{8, 32, 16, MmaType::f16, MmaType::f16, MmaType::f16, MmaType::f16};
    REQUIRE(wmma_registers(f16).a == 8);
    REQUIRE(wmma_registers(f16).b == 8);
    REQUIRE(wmma_registers(f16).c == 4);
    const MmaKind bf16{32, 8, 16, MmaType::bf16, MmaType::bf16, MmaType::f32, MmaType::f32};
    REQUIRE(wmma_registers(bf16).a == 8);
    REQUIRE(wmma_registers(bf16).b == 2);
    REQUIRE(wmma_registers(bf16).c == 8);
}

// ---- sums ------------------------------------------------------------------------------------------------------------

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

// MMA-Sim's probe of "the exponent of zero": products of 0 and an accumulator of 0 count as 2^-132 (Hopper: 2^-133) when
// the largest exponent is sought, which cuts off what lies 24 (25) bits below.
TEST_CASE("zeros limit how small a term may be") {
    const auto dot = [](TensorCoreModel model, int exponent) {
        Warp warp(kBf16);
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
    Warp bf16(kBf16);
    bf16.set(Operand::a, {3, 2}, 0x7f00);  // 2^127
    bf16.set(Operand::b, {4, 2}, 0x4000);  // 2
    bf16.run(model);
    REQUIRE(bf16.get(Operand::c, {3, 4}) == 0x7f800000U);
    REQUIRE(bf16.get(Operand::c, {3, 5}) == 0U);
}

TEST_CASE("f16 sums round to nearest even and overflow to infinity") {
    const auto sum = [](float a, float b, float c) {
        Warp warp(kF16Sum);
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
    Warp warp(kTf32);
    warp.set(Operand::a, {0, 0}, std::bit_cast<std::uint32_t>(1.0F) | 0x1fffU);
    warp.set(Operand::b, {0, 0}, std::bit_cast<std::uint32_t>(3.0F));
    warp.run(TensorCoreModel::ampere);
    REQUIRE(std::bit_cast<float>(warp.get(Operand::c, {0, 0})) == 3.0F);
}

TEST_CASE("fp8 on Hopper: f16 sums of the first and the second two of every four k, then C") {
    const MmaKind kind{16, 8, 32, MmaType::e4m3, MmaType::e5m2, MmaType::f32, MmaType::f32};
    RandomBits random(7);
    Warp warp(kind);
    Warp halves(kF16);
    std::array<Warp, 2> parts{halves, halves};
    for (int k = 0; k < 32; ++k) {
        Warp& part = parts[static_cast<std::size_t>(k % 4 / 2)];
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
    Warp result = warp;
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
            Warp warp(kind);
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

// ---- integers and f64 ------------------------------------------------------------------------------------------------

TEST_CASE("integer sums are exact, wrap, and clamp with satfinite", "[heavy]") {
    RandomBits random(3);
    for (MmaKind kind : mma_kinds()) {
        if (kind.d != MmaType::s32) continue;
        for (const bool saturate : {false, true}) {
            kind.saturate = saturate;
            Warp warp(kind);
            for (auto* const operand : {&warp.a, &warp.b})
                for (std::uint32_t& word : *operand) word = static_cast<std::uint32_t>(random.next());
            for (std::uint32_t& word : warp.c) word = random.below(2) != 0 ? 0x7fffff00U : 0x80000010U;
            Warp result = warp;
            result.run(TensorCoreModel::hopper);
            const auto value = [](MmaType type, std::uint32_t bits) -> std::int64_t {
                const int width = bits_of(type);
                const bool is_signed = type == MmaType::s8 || type == MmaType::s4;
                return is_signed && (bits >> (width - 1)) != 0 ? std::int64_t{bits} - (1 << width) : bits;
            };
            for (int row = 0; row < kind.m; ++row) {
                for (int column = 0; column < kind.n; ++column) {
                    std::int64_t sum = static_cast<std::int32_t>(warp.get(Operand::c, {row, column}));
                    for (int k = 0; k < kind.k; ++k)
                        sum += value(kind.a, warp.get(Operand::a, {row, k})) *
                               value(kind.b, warp.get(Operand::b, {column, k}));
                    if (saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
                    INFO(to_string(kind));
                    REQUIRE(result.get(Operand::c, {row, column}) == static_cast<std::uint32_t>(sum));
                }
            }
        }
    }
}

TEST_CASE("f64 is a chain of fused multiply-adds") {
    const MmaKind kind{8, 8, 4, MmaType::f64, MmaType::f64, MmaType::f64, MmaType::f64};
    Warp warp(kind);
    RandomBits random(4);
    const auto draw = [&random] { return static_cast<double>(static_cast<std::int64_t>(random.next())) * 0x1p-60; };
    const auto write = [](std::vector<std::uint32_t>& words, int index, int lane, double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        words[position(2 * index, lane)] = static_cast<std::uint32_t>(bits);
        words[position(2 * index + 1, lane)] = static_cast<std::uint32_t>(bits >> 32);
    };
    std::array<std::array<double, 4>, 8> a{}, b{};
    std::array<std::array<double, 8>, 8> c{};
    for (int lane = 0; lane < kLanes; ++lane) {
        const auto g = static_cast<std::size_t>(lane / 4), t = static_cast<std::size_t>(lane % 4);
        write(warp.a, 0, lane, a[g][t] = draw());
        write(warp.b, 0, lane, b[g][t] = draw());
        write(warp.c, 0, lane, c[g][2 * t] = draw());
        write(warp.c, 1, lane, c[g][2 * t + 1] = draw());
    }
    warp.run(TensorCoreModel::ampere);
    for (std::size_t row = 0; row < 8; ++row) {
        for (std::size_t column = 0; column < 8; ++column) {
            double sum = c[row][column];
            for (std::size_t k = 0; k < 4; ++k) sum = std::fma(a[row][k], b[column][k], sum);
            const std::size_t lane = row * 4 + column / 2, at = column % 2 * 64 + lane;
            REQUIRE((std::uint64_t{warp.c[at + 32]} << 32 | warp.c[at]) == std::bit_cast<std::uint64_t>(sum));
        }
    }
}

TEST_CASE("f64 hands on a NaN of B, else of C, else of A, quiet") {
    constexpr std::uint64_t kOne = 0x3ff0000000000000, kInfinity = 0x7ff0000000000000;
    const auto element = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        Warp warp({8, 8, 4, MmaType::f64, MmaType::f64, MmaType::f64, MmaType::f64});
        const auto write = [](std::vector<std::uint32_t>& words, std::uint64_t bits) {
            words[position(0, 0)] = static_cast<std::uint32_t>(bits);
            words[position(1, 0)] = static_cast<std::uint32_t>(bits >> 32);
        };
        write(warp.a, a);
        write(warp.b, b);
        write(warp.c, c);
        warp.run(TensorCoreModel::hopper);
        return std::uint64_t{warp.c[position(1, 0)]} << 32 | warp.c[position(0, 0)];
    };
    REQUIRE(element(0x7ff8000000000001, 0xfff8000000000002, 0x7ff8000000000003) == 0xfff8000000000002);
    REQUIRE(element(0x7ff8000000000001, kOne, 0x7ff8000000000003) == 0x7ff8000000000003);
    REQUIRE(element(0xfff0000000000005, kOne, kOne) == 0xfff8000000000005);
    REQUIRE(element(kInfinity, 0, kOne) == 0xfff8000000000000);
}

// ---- wmma, generations, refusals -------------------------------------------------------------------------------------

TEST_CASE("wmma computes the same sums as mma on its tiles") {
    RandomBits random(5);
    for (const int m : {16, 32, 8}) {
        const MmaKind kind{m, 256 / m, 16, MmaType::bf16, MmaType::bf16, MmaType::f32, MmaType::f32};
        Warp large(kind, true);
        for (int k = 0; k < 16; ++k) {
            for (int row = 0; row < kind.m; ++row)
                large.set(Operand::a, {row, k}, random_element(random, MmaType::bf16, false));
            for (int column = 0; column < kind.n; ++column)
                large.set(Operand::b, {column, k}, random_element(random, MmaType::bf16, false));
        }
        for (std::uint32_t& word : large.c) word = random_element(random, MmaType::f32, false);
        Warp result = large;
        result.run(TensorCoreModel::ampere);
        for (int first_column = 0; first_column < kind.n; first_column += 8) {
            Warp small(kBf16);
            const int rows = std::min(kind.m, 16);
            for (int k = 0; k < 16; ++k) {
                for (int row = 0; row < rows; ++row) small.set(Operand::a, {row, k}, large.get(Operand::a, {row, k}));
                for (int column = 0; column < 8; ++column)
                    small.set(Operand::b, {column, k}, large.get(Operand::b, {first_column + column, k}));
            }
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < 8; ++column)
                    small.set(Operand::c, {row, column}, large.get(Operand::c, {row, first_column + column}));
            small.run(TensorCoreModel::ampere);
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < 8; ++column)
                    REQUIRE(result.get(Operand::c, {row, first_column + column}) ==
                            small.get(Operand::c, {row, column}));
        }
    }
}

TEST_CASE("compute capabilities map to generations") {
    REQUIRE(tensor_core_model(75) == TensorCoreModel::turing);
    REQUIRE(tensor_core_model(80) == TensorCoreModel::ampere);
    REQUIRE(tensor_core_model(87) == TensorCoreModel::ampere);
    REQUIRE(tensor_core_model(89) == TensorCoreModel::ada);
    REQUIRE(tensor_core_model(90) == TensorCoreModel::hopper);
    REQUIRE(tensor_core_model(103) == TensorCoreModel::blackwell);
    REQUIRE(tensor_core_model(121) == TensorCoreModel::blackwell_rtx);
    REQUIRE_THROWS_WITH(tensor_core_model(70), ContainsSubstring("70"));
}

TEST_CASE("an instruction that a generation lacks is refused by name") {
    const MmaKind fp8{16, 8, 32, MmaType::e4m3, MmaType::e4m3, MmaType::f32, MmaType::f32};
    Warp warp(fp8);
    REQUIRE_THROWS_WITH(warp.run(TensorCoreModel::ampere), ContainsSubstring("m16n8k32.f32.e4m3.e4m3.f32"));
    REQUIRE_FALSE(is_supported(MmaKind{16, 8, 8, MmaType::f16, MmaType::bf16, MmaType::f32, MmaType::f32}));
    MmaKind saturating = kF16;
    saturating.saturate = true;
    REQUIRE_FALSE(is_supported(saturating));
}
