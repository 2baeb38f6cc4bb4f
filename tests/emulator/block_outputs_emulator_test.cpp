/// Outputs with an element for each block of columns of D on the emulator: amax of a block, and a D scaled by it.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Blocks are 128, 64 and 32 columns. exp(0) is 1 beyond D's edges, too, where it would count.
constexpr std::array<std::string_view, 5> kTexts{
    "bias: bf16[n]; t = acc + bias[n]; s[m,n/128] = max(abs(t)) / 448; d = t / s[m,n/128]",
    "ones[m,n/64] = sum(exp(acc * 0)); d = acc / ones[m,n/64]",
    "w: f32[m]; t = acc * w[m]; low[m,n/32] = min(t) * 2; high[m,n/32] = max(t); d = (t - low[m,n/32]) / 2",
    "x: bf16[m,n]; t = relu(acc + x[m,n]); s[m,n/128] = max(t); d = t / s[m,n/128]; r[n] = sum(t)",
    "high[m,n/128] = max(abs(acc)); d = acc"};

constexpr std::string_view kPairText =
    "t = silu(left(acc)) * right(acc); s[m,h/128] = max(abs(t)) / 448; d[m,h] = t / s[m,h/128]";

constexpr std::array<std::string_view, 5> kSchedules{
    "block=64x128x64,warpgroup=64x128,stages=3", "block=64x128x64,warpgroup=64x128,stages=4,schedule=pingpong",
    "block=256x128x64,warpgroup=128x128,stages=2,slices=1,schedule=overlapped",
    "block=128x256x64,warpgroup=64x256,stages=2,slices=1", "block=64x128x64,warpgroup=64x128,stages=3,stream_k=3"};

GemmSpec with_text(GemmSpec spec, std::string_view text, DataType d) {
    spec.d = d;
    spec.epilogue = text;
    return spec;
}

}  // namespace

TEST_CASE("emulated outputs for blocks: every kind, in each schedule") {
    std::size_t next = 0;
    for (const std::string_view text : kTexts)
        for (const DataType d : {DataType::e4m3, DataType::bf16, DataType::f32}) {
            const bool is_cut = d != DataType::e4m3;  // rows of an 8-bit D are whole vectors
            const GemmSpec spec =
                with_text(spec_of(GemmLayout::tn, is_cut ? 67 : 130, is_cut ? 200 : 304, 136, DataType::bf16), text, d);
            const std::string_view variant = kSchedules.at(next++ % kSchedules.size());
            INFO(variant << ", " << to_string(spec));
            check_wgmma(on_hopper(), spec, variant);
        }
}

TEST_CASE("emulated outputs for blocks: rows of zeros have a scale of 1") {
    GemmSpec spec = with_text(spec_of(GemmLayout::tn, 40, 144, 0, DataType::bf16), "", DataType::e4m3);
    spec.epilogue = "s[m,n/128] = max(abs(acc)) / 448; d = acc / s[m,n/128]";
    static_cast<void>(check_chosen(on_hopper(), spec));
}

TEST_CASE("emulated outputs for blocks: pairs, groups, scales of K, a pitch") {
    GemmSpec spec = with_text(spec_of(GemmLayout::tn, 140, 320, 72, DataType::bf16), kPairText, DataType::e4m3);
    check_wgmma(on_hopper(), spec, "block=128x256x64,warpgroup=64x256,stages=2,slices=1");
    static_cast<void>(check_chosen(on_hopper(), spec));
    spec.groups = 3;
    static_cast<void>(check_chosen(on_hopper(), spec));

    GemmSpec scaled = with_text(spec_of(GemmLayout::tn, 100, 272, 256, DataType::e4m3), "", DataType::e4m3);
    scaled.epilogue = "t = acc * sa[k/128,m] * sb[b,n/128,k/128]; s[m,n/128] = max(abs(t)) / 448; d = t / s[m,n/128]";
    scaled.groups = 4;
    scaled.epilogue = scaled.epilogue.with("s", {.ld = 11});
    static_cast<void>(check_chosen(on_hopper(), scaled));
}

TEST_CASE("emulated outputs for blocks: pairs of 8-bit operands, in one wave and in several") {
    for (const char* const variant :
         {"block=128x128x128,warpgroup=64x128,stages=2", "block=64x256x128,warpgroup=64x256,stages=2,slices=1",
          "block=64x96x128,warpgroup=64x96,stages=3,schedule=pingpong"})
        for (const DataType type : {DataType::e4m3, DataType::s8}) {
            GemmSpec spec = spec_of(GemmLayout::tn, 67, 320, 272, type);
            spec.d = DataType::bf16;
            spec.epilogue = "w: f32[n]; t = acc * w[n]; d[m,h] = silu(left(t)) * right(t)";
            const char* const promote = type == DataType::s8 ? "" : ",promote=128";
            check_wgmma(on_hopper(), spec, std::string(variant) + promote);
        }
    const GemmSpec spec = with_text(spec_of(GemmLayout::tn, 40, 288, 144, DataType::e4m3), kPairText, DataType::e4m3);
    static_cast<void>(check_chosen(on_hopper(), spec));
}

TEST_CASE("emulated outputs for blocks: planted faults are found") {
    const GemmSpec spec =
        resolved(with_text(spec_of(GemmLayout::tn, 70, 200, 72, DataType::bf16), kTexts[0], DataType::bf16));
    check_faults(on_hopper(), spec, {wgmma_config("block=64x256x64,warpgroup=64x256,stages=2,slices=1")},
                 {{"i % kSlicesOfBlock == 0", "i == 0 && column == 0"},
                  {"other < 4; other *= 2", "other < 2; other *= 2"},
                  {"value == 0.0f ? 1.0f : value / 448.0f", "value / 448.0f + 1.0f"},
                  {"results[own * pitch] = this->values[pair];", "results[own * pitch] = this->values[0];"},
                  {"j < kSliceColumns / 8; ++j)\n            operands.take_atom",
                   "j < kSliceColumns / 8 - 1; ++j)\n            operands.take_atom"},
                  {"s_block.values[i]", "s_block.values[0]"},
                  {"column + first * kSliceColumns, lane", "column, lane"}});
    const GemmSpec of_sums =
        resolved(with_text(spec_of(GemmLayout::tn, 20, 200, 24, DataType::bf16), kTexts[1], DataType::bf16));
    check_faults(on_hopper(), of_sums, {wgmma_config("block=64x128x64,warpgroup=64x128,stages=3")},
                 {{"operands.begin_block();", ""}});
}
