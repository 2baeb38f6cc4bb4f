/// Products of 8-bit floats on the emulator: every pair of numbers, the bits that sums keep, each by wgmma and by
/// mma.sync; every variant of wgmma_warp_specialized that serves them, epilogues with scales.

#include "generator/base/round_up.hpp"
#include "generator/families/family.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/eight_bits.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/says.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// All schedules, waves of the whole width and of a part, one to three consumers, clusters, both stores, stream-K, D^T,
/// two promotions in a k-tile, early copies.
constexpr std::array<std::string_view, 15> kPromoted{
    "block=128x128x128,warpgroup=64x128,stages=3",
    "block=128x256x128,warpgroup=64x256,stages=3,cluster=2x1",
    "block=256x96x128,warpgroup=128x96,stages=3,cluster=1x2,rasterization=zigzag,group=3",
    "block=256x160x128,warpgroup=128x160,stages=3",
    "block=128x104x128,warpgroup=128x104,schedule=pingpong,stages=4,rasterization=grouped_n,group=2",
    "block=64x64x256,warpgroup=64x64,schedule=pingpong,stages=3,slices=1,cluster=2x1,rasterization=row",
    "block=64x24x128,warpgroup=64x24,stages=8,cluster=2x1,rasterization=row",
    "block=192x104x128,warpgroup=64x104,stages=4,rasterization=row",
    "block=64x8x256,warpgroup=64x8,stages=6,rasterization=column",
    "block=128x40x128,warpgroup=64x40,stages=4,store=smem,cluster=4x1",
    "block=128x64x128,warpgroup=64x64,stages=4,stream_k=7",
    "block=128x48x128,warpgroup=128x48,schedule=pingpong,stages=5,stream_k=10,cluster=2x1",
    "block=128x72x128,warpgroup=64x72,swap_ab=1,stages=4,slices=3",
    "block=64x40x256,warpgroup=64x40,schedule=pingpong,swap_ab=1,stages=3,dependent_launch=1,early=ab",
    "block=64x64x128,warpgroup=64x64,stages=4,cluster=2x1,dependent_launch=1,early=b"};

/// The same of fast sums, which have a third schedule.
constexpr std::array<std::string_view, 9> kFast{
    "block=128x128x128,warpgroup=64x128,stages=3",
    "block=128x256x128,warpgroup=64x256,stages=3,cluster=2x1",
    "block=256x104x128,warpgroup=128x104,schedule=overlapped,stages=3,slices=3",
    "block=128x72x128,warpgroup=128x72,schedule=overlapped,stages=4,store=smem,cluster=1x2",
    "block=128x176x128,warpgroup=128x176,schedule=pingpong,stages=3",
    "block=64x8x256,warpgroup=64x8,stages=6,rasterization=column",
    "block=128x56x128,warpgroup=128x56,schedule=overlapped,stages=5,stream_k=4",
    "block=64x128x128,warpgroup=64x64,swap_ab=1,stages=3,slices=1",
    "block=128x48x128,warpgroup=128x48,schedule=overlapped,swap_ab=1,stages=4,cluster=2x2"};

/// The i-th mix of types, D's type and order, C.
GemmSpec mixed(const Sizes& size, std::size_t i) {
    using enum DataType;
    GemmSpec spec = float8_spec(size[0], size[1], size[2], i % 2 == 0 ? e4m3 : e5m2, i % 3 == 0 ? e4m3 : e5m2);
    spec.d = std::array{bf16, f32, f16}.at(i % 3);
    if (i % 4 == 1) spec.c = std::array{f32, bf16, f16}.at(i % 7 % 3);
    if (i % 5 == 3) spec.d_order = Order::column;
    spec.lda = spec.ldb = std::max<std::int64_t>((size[2] + 15) / 16 * 16, 16);
    return spec;
}

/// The layouts in which an operand is transposed.
constexpr std::array kTransposed{GemmLayout::nn, GemmLayout::nt, GemmLayout::tt};

/// In layout tn, or in the others by turns, with the pitches that the sizes give.
template <std::size_t N>
void check_variants(const std::array<std::string_view, N>& variants, Summation sums, const Sizes& size, OneIn& tried,
                    bool transposes = false) {
    std::size_t i = static_cast<std::size_t>(size[0]);
    for (const std::string_view variant : variants) {
        GemmSpec spec = mixed(size, ++i);
        if (!tried.next()) continue;
        if (transposes) spec.layout = kTransposed.at(i % kTransposed.size());
        if (transposes) spec.lda = spec.ldb = 0;
        spec.sums = sums;
        const std::string promote = sums == Summation::promoted ? ",promote=128" : "";
        check_wgmma(on_hopper(), spec, std::string(variant) + promote,
                    {.alpha = i % 2 == 0 ? 1.0F : 0.5F, .beta = spec.c ? 2.0F : 0.0F});
    }
}

}  // namespace

TEST_CASE("emulated 8-bit floats: the product of every pair of numbers") {
    for (const DataType a : {DataType::e4m3, DataType::e5m2})
        for (const DataType b : {DataType::e4m3, DataType::e5m2})
            for (const Summation sums : {Summation::fast, Summation::promoted})
                check_every_pair(on_hopper(), a, b, sums);
    check_every_pair(on_ada(), DataType::e4m3, DataType::e5m2, Summation::promoted);
}

TEST_CASE("emulated 8-bit floats: D in 8 bits is rounded to the nearest, and saturates") {
    for (const DataType type : {DataType::e4m3, DataType::e5m2}) check_float8_rounding(on_hopper(), type);
    check_float8_rounding(on_ada(), DataType::e4m3);
}

TEST_CASE("emulated 8-bit floats: D in 8 bits in every variant that stores it by TMA") {
    std::size_t i = 0;
    for (const std::string_view variant : kPromoted) {
        GemmSpec spec = mixed({136, 208, 272}, ++i);
        spec.d = i % 2 == 0 ? DataType::e4m3 : DataType::e5m2;
        spec.d_order = Order::row;
        if (i % 4 == 3) spec.c = DataType::bf16;
        const bool has_16 = wgmma_config(variant).warpgroup.n % 16 == 0;
        if (!has_16 || variant.find("swap_ab") != std::string_view::npos ||
            variant.find("smem") != std::string_view::npos)
            continue;
        check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128",
                    {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F});
    }
    GemmSpec spec = float8_spec(136, 208, 272);
    spec.d = DataType::e4m3;
    spec.epilogue = "bias: bf16[n]; d = silu(acc * 0.01 + bias[n]) * 3";
    check_wgmma(on_hopper(), spec, std::string(kPromoted[3]) + ",promote=128");
    spec.sums = Summation::fast;
    for (const std::string_view variant : {kFast[0], kFast[4], kFast[7]})
        if (variant.find("swap_ab") == std::string_view::npos) check_wgmma(on_hopper(), spec, variant);
}

TEST_CASE("emulated 8-bit floats: D in 8 bits of pairs of columns has whole 16 bytes in a tile") {
    GemmSpec spec = float8_spec(70, 96, 160, DataType::e5m2, DataType::e4m3);
    spec.d = DataType::e5m2;
    const auto tile = [&](int n) {
        const std::string_view scales =
            spec.epilogue.text().find("sb") != std::string_view::npos ? ",scales=threads" : "";
        return fmt::format("block=64x{0}x128,warpgroup=64x{0},stages=3,promote=128{1}", n, scales);
    };
    const auto refused = [&](int n) {
        const KernelConfig config{wgmma_config(tile(n))};
        return fmt::format(
            "{}", fmt::join(family_of(config).violations(problem_of(spec), config, find_arch("sm_90a")), "; "));
    };
    for (const std::string_view text :
         {"d[m,h] = even(acc * sb[n,k/128]) - odd(acc * sb[n,k/128])", "d[m,h] = silu(even(acc) * 0.01) * odd(acc)"}) {
        spec.epilogue = text;
        INFO(text);
        CHECK_THAT(refused(16), Says("warpgroup_tile.n = 16", "32"));
        CHECK(refused(32).empty());
        check_wgmma(on_hopper(), spec, tile(32));
        static_cast<void>(check_chosen(on_hopper(), spec));
    }
}

TEST_CASE("emulated 8-bit floats: fast sums keep 13 fraction bits, promoted ones those of f32 after every 128 of K") {
    for (Context* const context : {&on_hopper(), &on_ada()}) check_kept_bits(*context);
}

TEST_CASE("emulated 8-bit floats: every variant with promoted sums") {
    OneIn tried(2);
    check_variants(kPromoted, Summation::promoted, {65, 72, 144}, tried);
    check_variants(kPromoted, Summation::promoted, {130, 136, 75}, tried);
}

TEST_CASE("emulated 8-bit floats: every variant with fast sums") {
    OneIn tried(2);
    check_variants(kFast, Summation::fast, {65, 72, 144}, tried);
    check_variants(kFast, Summation::fast, {130, 136, 75}, tried);
}

TEST_CASE("emulated 8-bit floats: every variant with transposed operands") {
    OneIn tried(2);
    check_variants(kPromoted, Summation::promoted, {65, 72, 144}, tried, true);
    check_variants(kPromoted, Summation::promoted, {130, 136, 75}, tried, true);
    check_variants(kFast, Summation::fast, {66, 88, 131}, tried, true);
}

TEST_CASE("emulated 8-bit floats: operands of every size modulo 64 are transposed, at any pitch and address") {
    // The fields that 16 problems share, so that they share a kernel.
    struct Kind {
        int align_a, align_b;
        std::string_view variant;
    };
    constexpr std::array<Kind, 4> kKinds{
        {{1, 2, kPromoted[0]}, {16, 1, kPromoted[5]}, {4, 8, kPromoted[12]}, {2, 16, kPromoted[10]}}};
    constexpr std::uint32_t kResidues = 64;
    OneIn tried(3);
    for (const GemmLayout layout : kTransposed) {
        RandomBits random(static_cast<std::uint64_t>(layout) + 1);
        const auto size = [&](std::uint32_t residue) -> std::int64_t {
            return residue % kResidues + kResidues * (random.below(3) + (residue % kResidues == 0 ? 1 : 0));
        };
        for (std::uint32_t i = 0; i < kResidues; ++i) {
            const Kind& kind = kKinds.at(i / 16);
            const auto pitch = [&](std::int64_t run, int alignment) {
                return round_up<std::int64_t>(run + random.below(9), alignment);
            };
            GemmSpec spec = mixed({size(i), size(5 * i + 3), size(11 * i + 7)}, i / 16 + 1);
            spec.layout = layout;
            spec.lda = pitch(order_a(layout) == Order::row ? spec.k : spec.m, kind.align_a);
            spec.ldb = pitch(order_b(layout) == Order::row ? spec.n : spec.k, kind.align_b);
            spec.ldd = round_up<std::int64_t>(spec.d_order == Order::row ? spec.n : spec.m, 8);
            spec.align_a = kind.align_a;
            spec.align_b = kind.align_b;
            if (tried.next())
                check_wgmma(on_hopper(), spec, std::string(kind.variant) + ",promote=128",
                            {.beta = spec.c ? 2.0F : 0.0F});
        }
    }
}

TEST_CASE("emulated 8-bit floats: planted faults of a transposition are found") {
    struct Fault {
        const char* name;
        int alignment;
        const char* text;
        const char* instead;
    };
    constexpr std::array<Fault, 12> kFaults{{
        {"two bytes of a block are exchanged", 1, "0x5140", "0x5104"},
        {"rows of a block are exchanged", 1, "words[1] = __byte_perm(low01, low23, 0x7632)",
         "words[1] = __byte_perm(high01, high23, 0x7632)"},
        {"the last columns of the copy are not written", 1, "(columns + 63u) / 64", "columns / 64u"},
        {"the last rows of the copy are not written", 1, "(rows + 31u) / 32", "rows / 32u"},
        {"the last row of a block is not written", 1, "if (i < rows_left)", "if (i < rows_left - 1)"},
        {"the last row of a block at an edge is not written", 1, "row < min(rows_left, 4)",
         "row < min(rows_left, 4) - 1"},
        {"the last column at an edge is not written", 1, "if (i < columns_left)", "if (i + 1 < columns_left)"},
        {"words jut out of the matrix", 1, "if (is_whole(source, column))", "if (column + 16 <= columns)"},
        {"aligned words jut out of the matrix", 4, "return source + 15 * ld + 4 <= end;", "return true;"},
        {"words are taken as they are aligned", 1, "word[0], word[1], misalignment * 8", "word[0], word[1], 0"},
        {"A is transposed where B belongs", 1, "b.move(v - vectors_a)", "a.move(v - vectors_a)"},
        {"rows of a tile overlap", 4, "block % 8 * 4", "block % 8 * 2"},
    }};
    for (const Fault& fault : kFaults) {
        INFO(fault.name);
        GemmSpec spec = float8_spec(101, 77, fault.alignment == 1 ? 203 : 208);
        spec.layout = GemmLayout::nt;
        spec.lda = fault.alignment == 1 ? 101 : 104;
        spec.ldb = fault.alignment == 1 ? 79 : 80;
        const KernelConfig config{wgmma_config(std::string(kPromoted[0]) + ",promote=128,store=smem")};
        const std::string found = complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead);
        INFO(found);
        CHECK_FALSE(found.empty());
    }
}

TEST_CASE("emulated 8-bit floats: operands at any pitch and address are packed") {
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::int64_t k : {1, 15, 31, 75, 129, 272})
        for (const std::string_view variant : {kPromoted[0], kPromoted[5], kPromoted[10]}) {
            GemmSpec spec = mixed({65, 72, k}, ++i);
            if (!tried.next()) continue;
            spec.lda = i % 3 == 0 && k > 1 ? 0 : k + 1 + static_cast<std::int64_t>(i % 5);
            spec.ldb = i % 3 == 1 && k > 1 ? 0 : k + 1 + static_cast<std::int64_t>(i % 7);
            spec.align_a = i % 2 == 0 ? 1 : 0;
            check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128",
                        {.alpha = 1.0F, .beta = spec.c ? 2.0F : 0.0F});
        }
}

TEST_CASE("emulated 8-bit floats: where K is 0") {
    for (const std::int64_t n : {8, 72})
        for (const GemmLayout layout : kLayouts) {
            GemmSpec spec = mixed({72, n, 0}, 2);
            spec.layout = layout;
            spec.lda = spec.ldb = 0;
            check_wgmma(on_hopper(), spec, std::string(kPromoted[0]) + ",promote=128");
        }
}

TEST_CASE("emulated 8-bit floats: scales of tensors, rows and columns as a text") {
    std::size_t layout = 0;
    OneIn tried(2);
    for (const std::string_view text :
         {"scale_a: f32; scale_b: f32; d = acc * scale_a * scale_b",
          "scale_a: f32[m]; scale_b: f32[n]; d = acc * scale_a[m] * scale_b[n]",
          "scale_a: f32[m]; scale_b: f32[n]; bias: bf16[n]; d = silu(acc * scale_a[m] * scale_b[n] + bias[n])",
          "s: f32[0]; res: bf16[m,n]; d = acc * s[0] + res[m,n]"})
        for (const std::string_view variant :
             {kPromoted[1], kPromoted[4], kPromoted[9], kPromoted[10], kPromoted[12]}) {
            GemmSpec spec = float8_spec(136, 200, 272);
            spec.layout = kLayouts.at(layout++ % kLayouts.size());
            if (!tried.next()) continue;
            spec.epilogue = text;
            INFO(text);
            check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128");
        }
}

TEST_CASE("emulated 8 bits: a D without rows or columns is served, with a text and with scales of blocks, too") {
    for (const DataType type : {DataType::e4m3, DataType::s8})
        for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt})
            for (const auto& [m, n] : {std::pair{0, 64}, std::pair{64, 0}, std::pair{0, 0}}) {
                GemmSpec spec = spec_of(layout, m, n, 64, type);
                for (const std::string_view text : {"", "d = relu(acc)", "d = acc * sa[m,k/128]"}) {
                    if (type == DataType::s8 && text.find("k/128") != std::string_view::npos) continue;
                    spec.epilogue = text;
                    spec.d = text.empty() ? type : DataType::bf16;
                    INFO(to_string(spec));
                    static_cast<void>(check_chosen(on_hopper(), spec));
                    static_cast<void>(check_chosen(on_ada(), spec));
                }
            }
}
