// Tensor cores' results beside fused sums of narrow floats: integers, f64, and wmma by way of mma.

#include "runtime/emulator/tensor_core.hpp"

#include "tests/catch.hpp"
#include "tests/support/mma_warp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::emulator;
using namespace jitgemm::testing;

// ---- integers and f64 -----------------------------------------------------------------------------------------------

TEST_CASE("integer sums are exact, wrap, and clamp with satfinite", "[heavy]") {
    RandomBits random(3);
    for (MmaKind kind : mma_kinds()) {
        if (kind.d != MmaType::s32) continue;
        for (const bool saturate : {false, true}) {
            kind.saturate = saturate;
            MmaWarp warp(kind);
            for (auto* const operand : {&warp.a, &warp.b})
                for (std::uint32_t& word : *operand) word = static_cast<std::uint32_t>(random.next());
            for (std::uint32_t& word : warp.c) word = random.below(2) != 0 ? 0x7fffff00U : 0x80000010U;
            MmaWarp result = warp;
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
    MmaWarp warp(kind);
    RandomBits random(4);
    const auto draw = [&random] { return static_cast<double>(static_cast<std::int64_t>(random.next())) * 0x1p-60; };
    const auto write = [](std::vector<std::uint32_t>& words, int index, int lane, double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        words[position(2 * index, lane)] = static_cast<std::uint32_t>(bits);
        words[position(2 * index + 1, lane)] = static_cast<std::uint32_t>(bits >> 32);
    };
    std::array<std::array<double, 4>, 8> a{}, b{};
    std::array<std::array<double, 8>, 8> c{};
    for (int lane = 0; lane < kWarpLanes; ++lane) {
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
        MmaWarp warp({8, 8, 4, MmaType::f64, MmaType::f64, MmaType::f64, MmaType::f64});
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

// ---- wmma -----------------------------------------------------------------------------------------------------------

TEST_CASE("wmma computes the same sums as mma on its tiles") {
    RandomBits random(5);
    for (const int m : {16, 32, 8}) {
        const MmaKind kind{m, 256 / m, 16, MmaType::bf16, MmaType::bf16, MmaType::f32, MmaType::f32};
        MmaWarp large(kind, true);
        large.draw_operands(random, false);
        for (std::uint32_t& word : large.c) word = random_element(random, MmaType::f32, false);
        MmaWarp result = large;
        result.run(TensorCoreModel::ampere);
        for (int first_column = 0; first_column < kind.n; first_column += 8) {
            MmaWarp small(kBf16);
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
