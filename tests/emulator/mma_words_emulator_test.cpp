/// mma_multistage with f32 operands on the emulator: as tf32, and in parts. Each kernel serves problems of whole tiles
/// and of cut ones. verify() compares with exact sums of numbers that the parts hold.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using enum DataType;

GemmSpec of_words(const Sizes& size, GemmLayout layout, Math math) {
    GemmSpec spec = spec_of(layout, size[0], size[1], size[2], f32);
    spec.math = math;
    return spec;
}

/// With lines at multiples of four bytes only.
GemmSpec at_any_word(GemmSpec spec) {
    spec.lda = (order_a(spec.layout) == Order::row ? spec.k : spec.m) | 1;
    spec.ldb = (order_b(spec.layout) == Order::row ? spec.n : spec.k) | 1;
    spec.align_a = spec.align_b = 4;
    return spec;
}

constexpr std::array<Sizes, 4> kSizes{{{128, 128, 96}, {67, 80, 75}, {5, 16, 300}, {1, 1, 1}}};
constexpr std::array kMaths{Math::tf32, Math::f16x3, Math::bf16x6, Math::tf32x3, Math::bf16x3};

std::string promoted(Math math) { return math == Math::tf32 ? "" : ",promote=32"; }

}  // namespace

TEST_CASE("emulated mma.sync of f32: every layout and math, whole tiles and cut ones") {
    OneIn tried(2);
    for (const GemmLayout layout : kLayouts)
        for (const Math math : kMaths) {
            if (!tried.next()) continue;
            for (const Sizes& size : kSizes)
                static_cast<void>(check_with(on_emulator(), of_words(size, layout, math),
                                             "block=64x64x32,warp=32x32,stages=3,mma=16x8x8" + promoted(math),
                                             {.alpha = size[0] == 5 ? 0.5F : 1.0F}));
        }
}

TEST_CASE("emulated mma.sync of f32: rows of shared memory of 64, 128, 192 and 512 bytes") {
    for (const std::string_view tiles : {"block=16x64x32,warp=16x16", "block=32x128x16,warp=32x32",
                                         "block=128x16x64,warp=32x16", "block=256x32x32,warp=64x32"})
        for (const GemmLayout layout : {GemmLayout::nt, GemmLayout::tn})
            static_cast<void>(check_with(on_emulator(), of_words({130, 68, 70}, layout, Math::tf32),
                                         std::string(tiles) + ",stages=2,mma=16x8x8"));
}

TEST_CASE("emulated mma.sync of f32: warps of eight columns, which lanes load word by word") {
    for (const GemmLayout layout : {GemmLayout::nt, GemmLayout::tt})
        static_cast<void>(check_with(on_emulator(), of_words({130, 68, 70}, layout, Math::tf32),
                                     "block=32x32x32,warp=16x8,stages=2,mma=16x8x8"));
}

TEST_CASE("emulated mma.sync of f32: operands at any word, as they lie and packed") {
    for (const GemmLayout layout : kLayouts)
        for (const std::string_view pack : {"none", "a", "ab"})
            static_cast<void>(check_with(on_emulator(), at_any_word(of_words({45, 66, 77}, layout, Math::tf32)),
                                         "block=64x32x32,warp=32x16,stages=3,mma=16x8x8,pack=" + std::string(pack)));
}

TEST_CASE("emulated mma.sync of f32: split, with C, with a text, with D of 16 bits") {
    GemmSpec with_c = of_words({67, 80, 300}, GemmLayout::nn, Math::tf32x3);
    with_c.c = f32;
    static_cast<void>(check_with(on_emulator(), with_c,
                                 "block=64x32x32,warp=32x16,stages=3,mma=16x8x8,promote=32,split_k=3",
                                 {.alpha = 0.5F, .beta = 2.0F}));
    GemmSpec with_text = of_words({40, 48, 64}, GemmLayout::tt, Math::tf32);
    with_text.d = bf16;
    with_text.epilogue = "d = gelu(acc + bias[n]) * gate[m,n]";
    static_cast<void>(
        check_with(on_emulator(), with_text, "block=32x64x32,warp=16x32,stages=2,mma=16x8x8,rasterization=zigzag"));
    static_cast<void>(check_with(on_hopper(), of_words({33, 40, 600}, GemmLayout::nt, Math::tf32),
                                 "block=32x32x64,warp=16x16,stages=3,mma=16x8x8,split_k=4,reduction=cluster"));
}

TEST_CASE("emulated mma.sync of f32: batches, arrays of addresses and pairs of columns") {
    GemmSpec batch = of_words({70, 36, 50}, GemmLayout::nt, Math::f16x3);
    batch.batch = 3;
    static_cast<void>(check_with(on_emulator(), batch, "block=64x32x32,warp=32x16,stages=2,mma=16x8x8,promote=32"));
    batch.math = Math::tf32;
    batch.pointers = true;
    static_cast<void>(check_chosen(on_emulator(), batch));
    GemmSpec pairs = of_words({40, 96, 75}, GemmLayout::tt, Math::tf32);
    pairs.epilogue = "d[m,h] = silu(left(acc)) * right(acc)";
    static_cast<void>(check_with(on_emulator(), pairs, "block=32x64x32,warp=32x32,stages=3,mma=16x8x8"));
}

TEST_CASE("emulated mma.sync of f32: column-major D, and K = 0") {
    GemmSpec turned = of_words({50, 60, 70}, GemmLayout::tn, Math::tf32x3);
    turned.d_order = Order::column;
    static_cast<void>(check_chosen(on_emulator(), turned));
    static_cast<void>(check_with(on_emulator(), of_words({40, 48, 0}, GemmLayout::nt, Math::tf32),
                                 "block=64x64x32,warp=32x32,stages=3,mma=16x8x8"));
}
