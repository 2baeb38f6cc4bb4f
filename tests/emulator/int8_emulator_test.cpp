/// Products of 8-bit integers on the emulator: sums of all bytes, every variant of wgmma_warp_specialized that serves
/// them, each type of D, epilogues that scale, shift and round.

#include "generator/families/family.hpp"
#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/eight_bits.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// All schedules, one to three consumers, clusters, both stores, stream-K, the narrow widths, early copies.
constexpr std::array<std::string_view, 13> kInt8Variants{
    "block=128x128x128,warpgroup=64x128,stages=3",
    "block=128x256x128,warpgroup=64x256,stages=3,cluster=2x1",
    "block=256x96x128,warpgroup=128x96,stages=3,cluster=1x2,rasterization=zigzag,group=3",
    "block=128x112x128,warpgroup=128x112,schedule=pingpong,stages=3,rasterization=grouped_n,group=2",
    "block=64x64x256,warpgroup=64x64,schedule=pingpong,stages=3,slices=1,cluster=2x1,rasterization=row",
    "block=64x24x128,warpgroup=64x24,stages=8,cluster=2x1,rasterization=row",
    "block=192x96x128,warpgroup=64x96,stages=4,rasterization=row",
    "block=64x8x256,warpgroup=64x8,stages=6,rasterization=column",
    "block=128x32x128,warpgroup=64x32,stages=4,store=smem,cluster=4x1",
    "block=128x64x128,warpgroup=64x64,stages=4,stream_k=7",
    "block=256x80x128,warpgroup=128x80,schedule=overlapped,stages=3,slices=3",
    "block=128x48x128,warpgroup=128x48,schedule=overlapped,stages=5,stream_k=4,store=smem",
    "block=64x64x128,warpgroup=64x64,stages=4,cluster=2x1,dependent_launch=1,early=b"};

/// D of 16 bits may be stored as D^T.
constexpr std::array<std::string_view, 2> kTurned{
    "block=128x80x128,warpgroup=64x80,swap_ab=1,stages=4,slices=3",
    "block=64x48x256,warpgroup=64x48,schedule=pingpong,swap_ab=1,stages=3,dependent_launch=1,early=ab"};

bool has_in(std::string_view variant, std::string_view word) { return variant.find(word) != std::string_view::npos; }

/// Whether kernels with this config store such a D.
bool can_store(std::string_view variant, DataType d) {
    return bytes(d) != 1 || (!has_in(variant, "smem") && wgmma_config(variant).warpgroup.n % 16 == 0);
}

}  // namespace

TEST_CASE("emulated 8-bit integers: sums of random bytes are exact in every variant") {
    OneIn tried(3);
    for (const std::int64_t k : {1, 75, 400})
        for (const std::string_view variant : kInt8Variants)
            for (const Order order : {Order::row, Order::column}) {
                if (has_in(variant, "early") && k % 16 != 0) continue;  // a copy that is packed can't be early
                if (tried.next()) check_int8_sums(on_hopper(), k, variant, order);
            }
}

TEST_CASE("emulated 8-bit integers: D has all 32 bits of the largest sums") {
    constexpr std::int64_t kLongest = 131071, kPitch = 131072;
    Bytes a(2, kLongest, kPitch, 1), b(8, kLongest, kPitch, 2);
    for (std::int64_t i = 0; i < kLongest; ++i) a.at(0, i) = b.at(0, i) = -128;
    const GemmSpec spec = int8_spec(2, 8, kLongest);
    for (const std::string config :
         {"block=64x8x256,warpgroup=64x8,stages=6", "block=64x8x256,warpgroup=64x8,stages=6,stream_k=5"}) {
        const std::vector<double> d = int8_product(on_hopper(), spec, a, b, config);
        CHECK(d[0] == 2147467264);
        CHECK(count_wrong(spec, a, b, d, [](double sum) { return sum; }) == 0);
    }
}

TEST_CASE("emulated 8-bit integers: an alpha scales in f32, and D of 32 bits is rounded to the nearest") {
    const Bytes a(64, 64, 64, 1), b(48, 64, 64, 2);
    const GemmSpec spec = int8_spec(64, 48, 64);
    const std::string config = "block=64x48x128,warpgroup=64x48,stages=3";
    CHECK(count_wrong(spec, a, b, int8_product(on_hopper(), spec, a, b, config, 0.5F),
                      [](double sum) { return std::nearbyint(sum * 0.5); }) == 0);
    CHECK(count_wrong(spec, a, b, int8_product(on_hopper(), spec, a, b, config, 0x1p20F),
                      [](double sum) { return std::clamp(sum * 0x1p20, -2147483648.0, 2147483647.0); }) == 0);
}

TEST_CASE("emulated 8-bit integers: D in 8 bits is rounded to the nearest, and saturates") {
    check_int8_rounding(on_hopper());
}

TEST_CASE("emulated 8-bit integers: every type of D and of C in every variant") {
    using enum DataType;
    std::size_t i = 0;
    OneIn tried(4);
    for (const Sizes& size : {Sizes{65, 80, 144}, Sizes{130, 144, 75}})
        for (const std::string_view variant : kInt8Variants)
            for (const DataType d : {s32, bf16, f16, f32, s8}) {
                if (!can_store(variant, d)) continue;
                GemmSpec spec = int8_spec(size[0], size[1], size[2], d);
                spec.lda = spec.ldb = (size[2] + 15) / 16 * 16;
                if (++i % 3 == 1 && d != s32) spec.c = std::array{f32, bf16, f16}.at(i % 7 % 3);
                if (i % 5 == 3 && bytes(d) != 1) spec.d_order = Order::column;
                spec.constant_a = spec.constant_b = has_in(variant, "early");
                if (!tried.next()) continue;
                INFO(variant << ", " << to_string(spec));
                check_wgmma(on_hopper(), spec, std::string(variant),
                            {.alpha = i % 2 == 0 ? 1.0F : 0.5F, .beta = spec.c ? 2.0F : 0.0F});
            }
    for (const std::string_view variant : kTurned) {
        GemmSpec spec = int8_spec(130, 136, 272, f16);
        spec.constant_a = spec.constant_b = has_in(variant, "early");
        check_wgmma(on_hopper(), spec, std::string(variant), {.alpha = 0.5F, .beta = 0.0F});
    }
}

TEST_CASE("emulated 8-bit integers: operands whose K is not contiguous are transposed") {
    OneIn tried(2);
    for (const GemmLayout layout : {GemmLayout::nn, GemmLayout::nt, GemmLayout::tt})
        for (const DataType d : {DataType::s32, DataType::bf16})
            for (const std::string_view variant : {kInt8Variants[0], kInt8Variants[4], kInt8Variants[9]}) {
                if (!tried.next()) continue;
                GemmSpec spec = int8_spec(65, 80, 75, d);
                spec.layout = layout;
                check_wgmma(on_hopper(), spec, std::string(variant));
            }
}

TEST_CASE("emulated 8-bit integers: where K is 0") {
    for (const DataType d : {DataType::s32, DataType::s8})
        check_wgmma(on_hopper(), int8_spec(72, 80, 0, d), std::string(kInt8Variants[0]));
}

TEST_CASE("emulated 8-bit integers: scales, zero points and a rounding to 8 bits as a text") {
    using enum DataType;
    struct Case {
        std::string_view text;
        DataType d;
    };
    OneIn tried(4);
    for (const Case& one : {Case{"scale_a: f32[m]; scale_b: f32[n]; d = acc * scale_a[m] * scale_b[n]", bf16},
                            {"scale_a: f32[m]; scale_b: f32[n]; d = acc * scale_a[m] * scale_b[n]", s32},
                            {"zero: f32[m]; column_sum: f32[n]; s: f32; d = (acc - zero[m] * column_sum[n]) * s", f32},
                            {"bias: f32[n]; zero: f32; d = relu(acc * 0.001 + bias[n]) / 0.05 + zero", s8},
                            {"res: bf16[m,n]; s: f32[0]; d = acc * s[0] + res[m,n]", s8},
                            {"res: f32[m,n]; d = acc * 0.125 + res[m,n]", s32},
                            {"t = acc * 0.01; d = t; most: f32[0]; most[0] = max(abs(t)) / 127", s8}})
        for (const std::string_view variant : kInt8Variants) {
            if (!can_store(variant, one.d) || !tried.next()) continue;
            GemmSpec spec = int8_spec(136, 208, 272, one.d);
            spec.epilogue = one.text;
            spec.constant_a = spec.constant_b = has_in(variant, "early");
            INFO(one.text);
            check_wgmma(on_hopper(), spec, std::string(variant));
        }
}
