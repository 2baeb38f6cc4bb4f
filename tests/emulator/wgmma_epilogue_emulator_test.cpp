/// Epilogues in words in wgmma_warp_specialized, on the emulator: every way of an operand, in every variant.

#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Vectors, single elements, one matrix and more of them, of all types, with guards and without.
constexpr std::array<std::string_view, 7> kTexts{
    "bias: bf16[n]; d = silu(alpha * acc + bias[n]) * up[m,n]",
    "d = relu(alpha * acc + beta * up[m,n])",
    "bias: f32[n]; scale: f32[m]; s: f32[0]; res: f32[m,n]; "
    "d = (alpha * acc * scale[m] + s[0] * bias[n]) * up[m,n] + beta * res[m,n]",
    "d = acc * up[m,n] + beta * res[m,n]",
    "bias: f16[n]; scale: bf16[m]; d = acc * scale[m] + bias[n]",
    "d = relu(alpha * acc)",
    "s: f16[0]; scale: f16[m]; up: f16[m,n]; d = max(acc, s[0]) + beta * scale[m] * up[m,n]"};

/// Further outputs: of D's type and others, with each kind of operand and without.
constexpr std::array<std::string_view, 4> kOutputTexts{
    "bias: bf16[n]; t = alpha * acc + bias[n]; pre[m,n] = t; d = silu(t) * up[m,n]",
    "whole: f32[m,n]; d = relu(alpha * acc); whole[m,n] = acc",
    "one: bf16[m,n]; two: f16[m,n]; three: f32[m,n]; one[m,n] = acc; two[m,n] = acc * 2; d = beta * acc; "
    "three[m,n] = acc * 0.5",
    "scale: f32[m]; d = acc * scale[m]; pre[m,n] = acc + beta * up[m,n]"};

/// Reductions of each kind over rows, columns and both, beside other outputs and operands. What lies beyond D's edges
/// would count: exp(0) is 1.
constexpr std::array<std::string_view, 5> kReductionTexts{
    "bias: bf16[n]; t = alpha * acc + bias[n]; d = silu(t) * up[m,n]; grad[n] = sum(t)",
    "t = alpha * acc; d = t; squares[m] = sum(t * t); greatest[0] = max(abs(t)) / 448",
    "pre: f32[m,n]; t = acc + beta * up[m,n]; pre[m,n] = t; d = relu(t); low[n] = min(t); high[m] = max(t); "
    "all[0] = sum(t) * 0.5",
    "scale: f32[m]; t = acc * scale[m]; d = t; e[m] = sum(exp(t * 0.001)); high[n] = max(t - 1000); low[0] = min(t)",
    "sums[n] = sum(exp(acc * 0)); counts[m] = sum(exp(acc * 0)); count[0] = sum(exp(acc * 0)); d = acc"};

GemmSpec with_text(GemmSpec spec, std::string_view text) {
    spec.epilogue = text;
    return spec;
}

/// Half of the variants, with a text, C's types and D's order from one to the next.
void check_texts(std::span<const std::string_view> texts, const Sizes& size, std::size_t first_text, OneIn& tried) {
    using enum DataType;
    std::size_t i = first_text;
    for (const std::string_view variant : kWgmmaVariants) {
        // Each text meets each layout, also where there are as many texts as layouts.
        GemmSpec spec =
            spec_of(kLayouts[(i + i / 4) % kLayouts.size()], size[0], size[1], size[2], i % 3 == 0 ? f16 : bf16);
        if (i % 5 == 4) spec.d = f32;
        if ((i + i / 8) % 4 == 3) spec.d_order = Order::column;
        const std::string_view text = texts[i++ % texts.size()];
        if (!tried.next()) continue;
        INFO(text);
        check_wgmma(on_hopper(), with_text(with_tma_pitches(spec), text), variant, {.alpha = 0.5F, .beta = 2.0F});
    }
}

}  // namespace

TEST_CASE("emulated wgmma: epilogues in words, whole vectors") {
    OneIn tried(2);
    for (const std::size_t first : {std::size_t{0}, std::size_t{3}}) check_texts(kTexts, {136, 200, 72}, first, tried);
}
TEST_CASE("emulated wgmma: epilogues in words, rows of any pitch") {
    OneIn tried(2);
    check_texts(kTexts, {67, 75, 129}, 0, tried);
}

TEST_CASE("emulated wgmma: outputs beside D, whole vectors") {
    OneIn tried(2);
    for (const std::size_t first : {std::size_t{0}, std::size_t{2}})
        check_texts(kOutputTexts, {136, 200, 72}, first, tried);
}
TEST_CASE("emulated wgmma: outputs beside D, rows of any pitch") {
    OneIn tried(2);
    check_texts(kOutputTexts, {67, 75, 129}, 1, tried);
}

TEST_CASE("emulated wgmma: outputs beside D with pitches of their own") {
    std::int64_t extra = 0;
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaVariants) {
        GemmSpec spec = with_text(spec_of(GemmLayout::tn, 1 + extra % 70, 72, 64), kOutputTexts[0]);
        extra += 23;
        if (!tried.next()) continue;
        spec.epilogue = spec.epilogue.with("pre", {.ld = 72 + extra % 5});
        check_wgmma(on_hopper(), spec, variant);
    }
}

TEST_CASE("emulated wgmma: reductions, whole vectors") {
    OneIn tried(2);
    check_texts(kReductionTexts, {136, 200, 72}, 0, tried);
}
TEST_CASE("emulated wgmma: reductions, edges") {
    OneIn tried(2);
    check_texts(kReductionTexts, {67, 75, 129}, 1, tried);
    check_texts(kReductionTexts, {9, 264, 64}, 4, tried);
}

TEST_CASE("emulated wgmma: an operand whose scalar is 0 is not read") {
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaVariants) {
        const std::string_view text = kTexts.at(std::array<std::size_t, 3>{1, 2, 6}.at(i++ % 3));
        if (!tried.next()) continue;
        check_wgmma(on_hopper(), with_text(spec_of(GemmLayout::nt, 72, 72, 64), text), variant,
                    {.alpha = 0.5F, .beta = 0.0F});
    }
}

TEST_CASE("emulated wgmma: an epilogue in words where K is 0") {
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaVariants)
        if (tried.next()) check_wgmma(on_hopper(), with_text(spec_of(GemmLayout::tn, 136, 72, 0), kTexts[0]), variant);
}

// ---- pairs of columns -----------------------------------------------------------------------------------------------

namespace {

/// Both kinds of pairs, with vectors for both columns of a pair and for D's, matrices, scalars and guards.
constexpr std::array<std::string_view, 6> kPairTexts{
    "d[m,h] = silu(left(acc)) * right(acc)",
    "bias: bf16[n]; t = alpha * acc + bias[n]; d[m,h] = silu(even(t)) * odd(t)",
    "bias: f32[n]; up: bf16[m,h]; scale: f32[m]; col: f16[h]; t = acc * scale[m] + bias[n]; "
    "d[m,h] = left(t) * col[h] + beta * up[m,h] - right(t)",
    "up: f32[m,h]; col: f32[h]; s: f32[0]; d[m,h] = max(even(acc), s[0]) + up[m,h] * col[h] * odd(acc)",
    "bias: f16[n]; t = acc + beta * bias[n]; d[m,h] = left(t) - 2 * right(t)",
    "d[m,h] = even(acc) - 0.5 * odd(alpha * acc)"};

/// All schedules, stream-K, both stores, one to three consumers along M and two along N, clusters along M and N, slices
/// with a rest, and D^T, whose slices have one to eight times eight columns.
constexpr std::array<std::string_view, 22> kPairVariants{
    "block=128x128x64,warpgroup=64x128,stages=3",
    "block=128x256x64,warpgroup=64x256,stages=4,cluster=2x1",
    "block=256x176x64,warpgroup=128x176,schedule=overlapped,stages=3,cluster=1x2",
    "block=128x64x64,warpgroup=128x64,schedule=overlapped,stages=4,store=smem",
    "block=128x176x64,warpgroup=128x176,schedule=pingpong,stages=4",
    "block=64x64x128,warpgroup=64x64,schedule=pingpong,stages=4,slices=1,cluster=2x1",
    "block=64x128x64,warpgroup=64x64,stages=4,slices=4",
    "block=192x112x64,warpgroup=64x112,stages=4,rasterization=row",
    "block=64x16x64,warpgroup=64x16,stages=8",
    "block=64x32x64,warpgroup=64x32,schedule=pingpong,stages=6,dependent_launch=1,early=b",
    "block=128x64x64,warpgroup=64x64,stages=4,stream_k=7",
    "block=128x48x64,warpgroup=128x48,schedule=overlapped,stages=5,stream_k=4",
    "block=128x80x64,warpgroup=64x80,stages=4,persistent=0",
    "block=64x48x64,warpgroup=64x48,stages=3,persistent=0,warp_specialized=0,store=smem",
    "block=128x72x64,warpgroup=64x72,swap_ab=1,stages=4,slices=3",
    "block=64x8x64,warpgroup=64x8,swap_ab=1,stages=6",
    "block=64x16x128,warpgroup=64x16,swap_ab=1,stages=4,schedule=pingpong",
    "block=128x48x64,warpgroup=128x48,schedule=overlapped,swap_ab=1,stages=4,cluster=1x2",
    "block=128x104x64,warpgroup=128x104,schedule=pingpong,swap_ab=1,stages=4,stream_k=7",
    "block=64x88x64,warpgroup=64x88,swap_ab=1,stages=4,cluster=2x2",
    "block=64x40x64,warpgroup=64x40,swap_ab=1,stages=4,persistent=0",
    "block=64x24x64,warpgroup=64x24,swap_ab=1,stages=4,a_source=rmem"};

GemmSpec constants(GemmSpec spec) {
    spec.constant_a = spec.constant_b = true;
    return spec;
}

void check_pairs(const Sizes& size, std::size_t first_text, OneIn& tried) {
    using enum DataType;
    std::size_t i = first_text;
    for (const std::string_view variant : kPairVariants) {
        const GemmLayout layout = i % 2 == 0 ? GemmLayout::tn : GemmLayout::nn;  // B's columns are contiguous
        GemmSpec spec = spec_of(layout, size[0], size[1], size[2], i % 3 == 0 ? f16 : bf16);
        if (i % 5 == 4 && variant.find("swap_ab") == std::string_view::npos) spec.d = f32;
        const std::string_view text = kPairTexts.at(i++ % kPairTexts.size());
        if (!tried.next()) continue;
        INFO(text);
        spec = with_text(with_tma_pitches(spec), text);
        const KernelConfig config =
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant)));
        const bool shares_k = variant.find("stream_k") != std::string_view::npos;  // of a longer K
        CHECK((shares_k ||
               family_of(config).violations(problem_of(constants(spec)), config, find_arch("sm_90a")).empty()));
        check_wgmma(on_hopper(), spec, variant, {.alpha = 0.5F, .beta = 2.0F});
    }
}

}  // namespace

TEST_CASE("emulated wgmma: pairs of columns, whole vectors") {
    OneIn tried(2);
    for (const std::size_t first : {std::size_t{0}, std::size_t{3}}) check_pairs({136, 208, 72}, first, tried);
}
TEST_CASE("emulated wgmma: pairs of columns, edges") {
    OneIn tried(2);
    check_pairs({67, 144, 129}, 3, tried);
    check_pairs({1, 272, 64}, 1, tried);
}
TEST_CASE("emulated wgmma: pairs of columns where K is 0") {
    OneIn tried(2);
    check_pairs({72, 80, 0}, 0, tried);
}

namespace {

struct SpoiltText {
    const char* name;
    const char* parameters;
    const char* text;
    const char* instead;
};
constexpr const char* kElementwise = "block=64x64x64,warpgroup=64x64,stages=3,store=smem";
constexpr const char* kTurned = "block=64x72x64,warpgroup=64x72,swap_ab=1,stages=4";

/// Readers that go wrong, in kernels of the third text.
constexpr SpoiltText kSpoilt[] = {
    {"a row vector is read from the tile's second column on", kElementwise, "args.bias, column,",
     "args.bias, column + 1,"},
    {"a column vector is read of the other rows", kElementwise, "scale_part.row(i)", "scale_part.row(1 - i)"},
    {"a matrix is read of the row above", kElementwise, "pair * 8 * pitch", "(pair * 8 - 1) * pitch"},
    {"rows below the first 64 have the first ones' scale", "block=128x64x64,warpgroup=128x64,stages=3",
     "there.scale_part = scale_part.below(rows);", ""},
    {"a matrix is read transposed", kTurned, "(j * 8 + i) * pitch + pair * 8", "(j * 8 + i) + pair * 8 * pitch"},
    {"the second of a pair is the first", kTurned, "up_here.y", "up_here.x"},
};

}  // namespace

namespace {

constexpr const char* kPaired = "block=128x128x64,warpgroup=64x128,stages=3";
constexpr const char* kPairedTurned = "block=64x72x64,warpgroup=64x72,swap_ab=1,stages=4";

/// Pairs that go wrong, in kernels of the third text of pairs.
constexpr SpoiltText kSpoiltPairs[] = {
    {"the sums of a pair change places", kPaired, "finish(args, sum_0.x, sum_1.x", "finish(args, sum_1.x, sum_0.x"},
    {"the second half is the first", kPaired, "args.bias + args.n", "args.bias"},
    {"a tile begins at another group of pairs", kPaired, "0, 0, place / kGroup", "0, 0, place / kGroup + 1"},
    {"D^T has the vector of the half", kPairedTurned, "args.bias + args.m / 2", "args.bias + args.m / 4"},
    {"rows of D^T are those of the sums", kPairedTurned, "row /= 2;", ""},
};

}  // namespace

TEST_CASE("emulated wgmma: planted faults of pairs are found") {
    for (const SpoiltText& fault : kSpoiltPairs) {
        INFO(fault.name);
        const GemmSpec spec = resolved(with_text(spec_of(GemmLayout::tn, 200, 144, 136), kPairTexts[2]));
        const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(fault.parameters));
        CHECK_FALSE(complaint_about(on_hopper(), spec, config, fault.text, fault.instead).empty());
    }
}

TEST_CASE("emulated wgmma: planted faults of outputs are found") {
    constexpr SpoiltText kSpoiltOutputs[] = {
        {"an output goes where D does", "block=64x64x64,warpgroup=64x64,stages=3", "args.map_pre,", "args.map_d,"},
        {"an output has D's values", "block=64x64x64,warpgroup=64x64,stages=3", "(x.pre, y.pre)", "(x.d, y.d)"},
        {"an output is not stored", kTurned, "store_outputs<kColumns>(slice, args, row, column);", ""},
        {"the first pair is staged twice", kTurned, "pre_words[pair] =", "pre_words[0] = pre_words[1] ="},
        {"a row is stored in the one below", kElementwise, "slice_row + lane / 4 + i * 8", "slice_row + lane / 4 + 8"},
        {"the second of two is lost", kElementwise, "if (left > 1) first[1]", "if (left > 9) first[1]"},
    };
    for (const SpoiltText& fault : kSpoiltOutputs) {
        INFO(fault.name);
        const bool by_threads = fault.parameters == kElementwise;
        const GemmSpec spec =
            resolved(with_text(spec_of(GemmLayout::tn, 200, by_threads ? 135 : 136, 136),
                               by_threads ? "t = acc * 2; pre[m,n] = t; d = t + 1" : kOutputTexts[0]));
        const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(fault.parameters));
        CHECK_FALSE(complaint_about(on_hopper(), spec, config, fault.text, fault.instead).empty());
    }
}

TEST_CASE("emulated wgmma: planted faults of reductions are found") {
    constexpr const char* kSeveral = "block=128x64x64,warpgroup=64x64,stages=3";
    constexpr std::string_view kText =
        "sums[n] = sum(acc); ones[n] = sum(exp(acc * 0)); counts[m] = sum(exp(acc * 0)); "
        "count[0] = sum(exp(acc * 0)); d = acc";
    constexpr SpoiltText kSpoiltReductions[] = {
        {"rows beyond the edge count", kSeveral, "row < edges.end_row ? edges.end_column - column : 0;",
         "edges.end_column - column;"},
        {"columns beyond the edge count", kSeveral, "edges.end_column - column : 0;", "2 : 0;"},
        {"rows g + 8 are left out", kSeveral, "pair == 0 ? first : Kind::of(both[0], first)", "first"},
        {"columns change places", kSeveral, "lane / 4 % 2 * 16 + lane / 8 % 2 * 8",
         "lane / 8 % 2 * 16 + lane / 4 % 2 * 8"},
        {"a lane's columns are lost", kSeveral, "other < 4; other *= 2", "other < 2; other *= 2"},
        {"all rows have the first part", kSeveral, "(row / kPartRows) * edges.end_column", "0 * edges.end_column"},
        {"the last columns are not stored", "block=64x24x64,warpgroup=64x24,stages=3", "if (own < count &&",
         "if (count == 32 &&"},
        {"a part is left out", kSeveral, "int part = warp;", "int part = warp + 1;"},
        {"a warp's parts are left out", kSeveral, "i < kFinishWarps; ++i) value = Kind::of(value, values[i][lane])",
         "i < 2; ++i) value = Kind::of(value, values[i][lane])"},
        {"D^T reduces the other way", kTurned, "y.sums, left, pair", "y.sums, left, 0"},
    };
    for (const SpoiltText& fault : kSpoiltReductions) {
        INFO(fault.name);
        const GemmSpec spec = resolved(with_text(spec_of(GemmLayout::tn, 200, 200, 136), kText));
        const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(fault.parameters));
        CHECK_FALSE(complaint_about(on_hopper(), spec, config, fault.text, fault.instead).empty());
    }
}

TEST_CASE("emulated wgmma: planted faults of readers are found") {
    for (const SpoiltText& fault : kSpoilt) {
        INFO(fault.name);
        const GemmSpec spec = resolved(with_text(spec_of(GemmLayout::tn, 200, 136, 136), kTexts[2]));
        const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(fault.parameters));
        CHECK_FALSE(complaint_about(on_hopper(), spec, config, fault.text, fault.instead).empty());
    }
}
