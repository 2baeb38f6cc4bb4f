/// Scales of blocks of K in mma_multistage, on the emulator: every pair of kinds, splits of K, groups and batches,
/// edges; planted faults.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::array<std::string_view, 5> kOfA{"sa[m,k/128]", "sa[k/128,m]", "sa[m/128,k/128]", "sa[k/128,m/128]", ""};
constexpr std::array<std::string_view, 5> kOfB{"sb[n,k/128]", "sb[k/128,n]", "sb[n/128,k/128]", "sb[k/128,n/128]", ""};

/// Warp tiles that divide 128 and one that does not, k-tiles of one block of K and of two, splits of K.
constexpr std::array<std::string_view, 5> kScaledVariants{
    "block=64x64x128,warp=32x32,stages=3,mma=16x8x32", "block=64x96x128,warp=32x48,stages=2,mma=16x8x32",
    "block=96x32x256,warp=48x16,stages=2,mma=16x8x32", "block=32x128x128,warp=16x64,stages=3,mma=16x8x32,split_k=3",
    "block=64x64x128,warp=32x32,stages=3,mma=16x8x32,shared=padding,rasterization=column"};

GemmSpec scaled(std::string_view of_a, std::string_view of_b, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, DataType::e4m3);
    spec.b = DataType::e5m2;
    std::string text = "d = acc";
    for (const std::string_view scale : {of_a, of_b})
        if (!scale.empty()) text += " * " + std::string(scale);
    spec.epilogue = text + " + bias[n]";
    return spec;
}

}  // namespace

TEST_CASE("emulated scales of blocks on mma.sync: every pair of kinds") {
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view of_a : kOfA)
        for (const std::string_view of_b : kOfB) {
            const std::string variant = std::string(kScaledVariants.at(++i % kScaledVariants.size())) + ",promote=128";
            if (of_a.empty() && of_b.empty()) continue;
            GemmSpec spec = scaled(of_a, of_b, 140 + 7 * static_cast<std::int64_t>(i % 3), 264, i % 2 == 0 ? 416 : 896);
            if (i % 4 == 0) spec.d_order = Order::column;
            INFO(variant << ", " << to_string(spec));
            if (tried.next()) check_with(on_ada(), spec, variant, {.seed = i});
        }
}

TEST_CASE("emulated scales of blocks on mma.sync: operands that are copied first, single rows, no K, no alpha") {
    for (const GemmLayout layout : {GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        GemmSpec spec = scaled("sa[m,k/128]", "sb[n/128,k/128]", 77, 131, 203);
        spec.layout = layout;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_ada(), spec));
    }
    static_cast<void>(check_chosen(on_ada(), scaled("sa[m,k/128]", "sb[k/128,n]", 1, 1, 1)));
    static_cast<void>(check_chosen(on_ada(), scaled("sa[m,k/128]", "sb[k/128,n]", 40, 24, 0)));
    GemmSpec spec = scaled("", "", 72, 136, 512);
    spec.epilogue = "d = alpha * (acc * sa[m,k/128] * sb[k/128,n])";
    static_cast<void>(check_chosen(on_ada(), spec, {.alpha = 0.0F, .beta = 0.0F}));
    spec.epilogue =
        "x: f16[m,n]; t = acc * sa[m,k/128] * sb[n/128,k/128]; pre[m,n] = t; d = silu(t + bias[n]) + x[m,n]";
    static_cast<void>(check_chosen(on_ada(), spec));
}

TEST_CASE("emulated scales of blocks on mma.sync: a k-tile of two blocks, one of them behind K") {
    const GemmSpec spec = scaled("sa[m,k/128]", "sb[n/128,k/128]", 40, 64, 400);
    check_with(on_ada(), spec, std::string(kScaledVariants[2]) + ",promote=128");
    check_faults(
        on_ada(), scaled("sa[m,k/128]", "sb[n/128,k/128]", 200, 300, 912),
        with_parameters({MmaMultistageConfig{}}, parse_parameters(std::string(kScaledVariants[2]) + ",promote=128")),
        {{"kMmaK < tile.end_k", "kMmaK < tile.end_k - 256"}});
}

TEST_CASE("emulated scales of blocks on mma.sync: groups and batches, with scales of each") {
    for (const std::string_view text : {"d = acc * sa[m,k/128] * sb[b,n/128,k/128]",
                                        "d = acc * sa[k/128,m] * sb[b,k/128,n]", "d = acc * sb[n/128,k/128] * w[m]"}) {
        GemmSpec spec = scaled("", "", 140, 72, 400);
        spec.epilogue = text;
        spec.groups = 5;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_ada(), spec));
        spec.groups = 0, spec.batch = 3, spec.m = 40;
        static_cast<void>(check_chosen(on_ada(), spec));
    }
}

TEST_CASE("emulated scales of blocks on mma.sync: planted faults are found") {
    const KernelConfig config =
        with_parameters({MmaMultistageConfig{}}, parse_parameters(std::string(kScaledVariants[2]) + ",promote=128"));
    check_faults(on_ada(), scaled("sa[m,k/128]", "sb[n/128,k/128]", 200, 300, 912), config,
                 {{"warp_column, k, lane)", "warp_column, 0, lane)"},
                  {"tile.first_k + k_tile * kBlockK", "tile.first_k"},
                  {"next * 8 + lane / 4", "lane / 4"},
                  {"scales.of_row[i][r / 2]", "scales.of_row[i][r % 2]"},
                  {"scales.of_row[i][r / 2]", "scales.of_row[0][r / 2]"},
                  {"tile_column + warp_column, k", "warp_column, k"},
                  {"* args.ld_sb + k_block", "* args.ld_sb"}});
}
