/// Scales of blocks of K on the emulator: every pair of kinds, in both orders of memory, in every variant that serves
/// them; edges; planted faults.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::array<std::string_view, 5> kOfA{"sa[m,k/128]", "sa[k/128,m]", "sa[m/128,k/128]", "sa[k/128,m/128]", ""};
constexpr std::array<std::string_view, 5> kOfB{"sb[n,k/128]", "sb[k/128,n]", "sb[n/128,k/128]", "sb[k/128,n/128]", ""};

/// Schedules, one to three consumers, waves of the whole width and of a part, one set of partial sums and two, both
/// stores, stream-K, D^T, early copies.
constexpr std::array<std::string_view, 9> kScaledVariants{
    "block=64x64x128,warpgroup=64x64,stages=3",
    "block=128x96x128,warpgroup=64x96,stages=3,rasterization=row",
    "block=256x128x128,warpgroup=128x128,stages=2,slices=1",
    "block=128x192x128,warpgroup=64x192,stages=2,slices=1",
    "block=192x64x128,warpgroup=64x64,stages=2,store=smem",
    "block=128x32x128,warpgroup=128x32,schedule=pingpong,stages=4",
    "block=128x64x128,warpgroup=64x64,stages=3,stream_k=7",
    "block=64x24x128,warpgroup=64x24,swap_ab=1,stages=4",
    "block=64x64x128,warpgroup=64x64,stages=4,dependent_launch=1,early=b"};

GemmSpec scaled(std::string_view of_a, std::string_view of_b, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, DataType::e4m3);
    spec.b = DataType::e5m2;
    spec.constant_b = true;
    std::string text = "d = acc";
    for (const std::string_view scale : {of_a, of_b})
        if (!scale.empty()) text += " * " + std::string(scale);
    spec.epilogue = text + " + bias[n]";
    return spec;
}

/// Every variant, the kinds of scales from one to the next.
void check_kinds(std::size_t first, const Sizes& size, std::string_view more) {
    std::size_t i = first;
    for (std::size_t of_a = 0; of_a < kOfA.size(); ++of_a)
        for (std::size_t of_b = 0; of_b < kOfB.size(); ++of_b) {
            if (kOfA.at(of_a).empty() && kOfB.at(of_b).empty()) continue;
            const std::string variant = std::string(kScaledVariants.at(i++ % kScaledVariants.size())) + ",promote=128";
            if (variant.find("x24x") != variant.npos && kOfA.at(of_a).find("m/128") != std::string_view::npos) continue;
            check_wgmma(on_hopper(), scaled(kOfA.at(of_a), kOfB.at(of_b), size[0], size[1], size[2]),
                        variant + std::string(more));
        }
}

}  // namespace

TEST_CASE("emulated scales of blocks: every pair of kinds, loaded by threads") {
    check_kinds(0, {136, 200, 296}, ",scales=direct");
    check_kinds(4, {77, 264, 129}, ",scales=direct");
}

// 400 and more rows and columns have four blocks of 128.
TEST_CASE("emulated scales of blocks: every pair of kinds, copied by TMA") { check_kinds(2, {400, 408, 512}, ""); }

TEST_CASE("emulated scales of blocks: rows with pitches of their own, D column-major, no K") {
    for (const std::string_view variant : kScaledVariants) {
        GemmSpec spec = scaled("sa[m,k/128]", "sb[k/128,n]", 72, 136, 1000);
        spec.epilogue = spec.epilogue.with("sa", {.ld = 12}).with("sb", {.ld = 140});
        check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128");
        spec.d_order = Order::column;
        check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128");
        check_wgmma(on_hopper(), scaled("sa[m,k/128]", "sb[k/128,n]", 72, 136, 0),
                    std::string(variant) + ",promote=128,scales=direct");
    }
}

TEST_CASE("emulated scales of blocks: nothing is read where alpha is 0") {
    GemmSpec spec = scaled("", "", 72, 136, 512);
    spec.epilogue = "d = alpha * (acc * sa[m,k/128] * sb[k/128,n])";
    for (const std::string_view variant : kScaledVariants)
        for (const std::string_view way : {"ring", "direct"})
            check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128,scales=" + std::string(way),
                        {.alpha = 0.0F, .beta = 0.0F});
}

TEST_CASE("emulated scales of blocks: planted faults are found") {
    constexpr std::string_view kRing = "block=128x96x128,warpgroup=64x96,stages=3,promote=128";
    constexpr std::string_view kDirect = "block=128x96x128,warpgroup=64x96,stages=3,promote=128,scales=direct";
    struct Fault {
        std::string_view name, parameters, text, instead;
    };
    constexpr std::array kFaults{
        Fault{"the next block's scales of B", kRing, "neighbour % 4 * 4", "(neighbour + 1) % 4 * 4"},
        Fault{"the first block's scales of A", kRing, "kAlongK ? k_block % 4 * 4 : 0", "0"},
        Fault{"the lower rows have the upper rows' scales", kRing, "row_scales.at(row + 8,", "row_scales.at(row,"},
        Fault{"one part's scale for all columns", kRing, "partial.column_scale[part];", "partial.column_scale[0];"},
        Fault{"scales of an earlier stage", kRing, "stage * kScaleBytes + row * kStride", "row * kStride"},
        Fault{"a k-block is counted twice", kRing, "++a.k_block", "a.k_block += 2"},
        Fault{"the scales of a tile's first rows", kDirect, "first_row = row + row_in_tile", "first_row = row_in_tile"},
        Fault{"rows beyond the last one are read", kDirect, "min(first_row + row, last_row)", "(first_row + row)"},
        Fault{"a pitch for each k-block", kDirect, "block * pitch + k_block", "block * pitch + k_block * pitch"},
    };
    for (const Fault& fault : kFaults) {
        INFO(fault.name);
        GemmSpec spec = scaled("sa[m,k/128]", "sb[n/128,k/128]", 200, 400, 512);
        const KernelConfig config =
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(fault.parameters)));
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
        spec.epilogue = "d = acc * sa[m,k/128] * sb[n/128,k/128]";  // D is judged as the product of a plain problem
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
    }
}
