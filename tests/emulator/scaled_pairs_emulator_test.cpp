/// Pairs of columns whose products have scales of blocks of K, on the emulator: halves and neighbours, every pair of
/// kinds, D^T; groups, batches and outputs for blocks; planted faults.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/one_in.hpp"
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

/// Schedules, one to three consumers, waves of the whole width and of a part, both stores, stream-K, D^T.
constexpr std::array<std::string_view, 8> kVariants{"block=64x64x128,warpgroup=64x64,stages=3",
                                                    "block=128x128x128,warpgroup=64x128,stages=3,rasterization=row",
                                                    "block=128x256x128,warpgroup=64x256,stages=2,slices=1",
                                                    "block=192x64x128,warpgroup=64x64,stages=2,store=smem",
                                                    "block=128x32x128,warpgroup=128x32,schedule=pingpong,stages=4",
                                                    "block=128x64x128,warpgroup=64x64,stages=3,stream_k=7",
                                                    "block=64x24x128,warpgroup=64x24,swap_ab=1,stages=4",
                                                    "block=128x16x128,warpgroup=64x16,swap_ab=1,stages=3"};

bool swaps(std::string_view variant) { return variant.find("swap_ab") != std::string_view::npos; }

/// "left(x) + right(x)" of the scaled sums, which are integers, or their product with an activation.
GemmSpec scaled_pairs(std::string_view of_a, std::string_view of_b, bool in_halves, const Sizes& size) {
    GemmSpec spec = spec_of(GemmLayout::tn, size[0], size[1], size[2], DataType::e4m3);
    spec.b = DataType::e5m2;
    std::string text = "x = acc";
    for (const std::string_view scale : {of_a, of_b})
        if (!scale.empty()) text += " * " + std::string(scale);
    spec.epilogue = text + (in_halves ? "; d[m,h] = silu(left(x)) * right(x)" : "; d[m,h] = even(x) - 2 * odd(x)");
    return spec;
}

/// Every pair of kinds, each in the next variant.
void check_kinds(std::size_t first, const Sizes& size, std::string_view way) {
    OneIn tried(2);
    for (std::size_t i = 0; i < 2 * kOfA.size() * kOfB.size(); ++i) {
        const bool in_halves = i % 2 == 0;
        const std::string_view of_a = kOfA.at(i / 2 % kOfA.size()), of_b = kOfB.at(i / 2 / kOfA.size());
        const std::string_view variant = kVariants.at((i / 2 + i / 2 / kOfA.size() + first) % kVariants.size());
        if (of_a.empty() && of_b.empty()) continue;
        // A box of tma for the 24 columns of D^T holds no whole block, and TMA copies no such boxes of pairs.
        if (swaps(variant) && of_a.find("m/128") != std::string_view::npos) continue;
        if (way == "tma" && (of_b == kOfB[3] || (of_b == kOfB[1] && in_halves))) continue;
        if (!tried.next()) continue;
        const GemmSpec spec = scaled_pairs(of_a, of_b, in_halves, size);
        INFO(variant << ", " << to_string(spec));
        check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128,scales=" + std::string(way), {.seed = i});
    }
}

constexpr std::string_view kSwiGlu = "x = acc * sa[m,k/128] * sb[n/128,k/128]; d[m,h] = silu(left(x)) * right(x)";

GemmSpec with_text(GemmSpec spec, std::string_view text) {
    spec.epilogue = text;
    return spec;
}

}  // namespace

TEST_CASE("emulated scales of pairs: every pair of kinds, copied by threads") {
    check_kinds(0, {136, 768, 304}, "threads");
}

TEST_CASE("emulated scales of pairs: every pair of kinds, copied by TMA") { check_kinds(1, {400, 1024, 512}, "tma"); }

TEST_CASE("emulated scales of pairs: halves that end within a tile, single rows, no K") {
    for (const Sizes& size : {Sizes{1, 256, 128}, Sizes{77, 272, 144}, Sizes{3, 16, 16}, Sizes{72, 256, 0}})
        for (const bool in_halves : {true, false}) {
            const GemmSpec spec = scaled_pairs("sa[m,k/128]", "sb[k/128,n]", in_halves, size);
            INFO(to_string(spec));
            static_cast<void>(check_chosen(on_hopper(), spec));
        }
}

TEST_CASE("emulated scales of pairs: bias, operands of both kinds, an output beside d for blocks of columns") {
    const GemmSpec spec = scaled_pairs("", "", true, {136, 512, 384});
    for (const std::string_view text :
         {"x = acc * sa[m,k/128] * sb[n/128,k/128] + bias[n]; d[m,h] = gelu(left(x)) * right(x) + y[m,h] * w[m]",
          "x = acc * sb[k/128,n] + bias[n]; d[m,h] = relu(even(x)) + odd(x) * v[h]",
          "x = acc * sa[m,k/128] * sb[n/128,k/128]; t = silu(left(x)) * right(x); "
          "q[m,h/128] = max(abs(t)) / 448; d[m,h] = t / q[m,h/128]"}) {
        INFO(text);
        static_cast<void>(check_chosen(on_hopper(), with_text(spec, text)));
    }
}

TEST_CASE("emulated scales of pairs: groups and batches") {
    for (const std::string_view text :
         {"x = acc * sa[m,k/128] * sb[b,n/128,k/128]; d[m,h] = silu(left(x)) * right(x) * w[m]",
          "x = acc * sa[k/128,m] * sb[b,k/128,n]; d[m,h] = silu(left(x)) * right(x)",
          "x = acc * sa[m,k/128] * sb[b,k/128,n/128]; d[m,h] = silu(even(x)) * odd(x)"}) {
        INFO(text);
        GemmSpec spec = with_text(scaled_pairs("", "", true, {150, 512, 256}), text);
        spec.groups = 5;
        static_cast<void>(check_chosen(on_hopper(), spec));
        spec.groups = 0, spec.batch = 3, spec.m = 40;
        static_cast<void>(check_chosen(on_hopper(), spec));
    }
}

TEST_CASE("emulated scales of pairs: planted faults are found") {
    constexpr std::string_view kTma = "block=128x128x128,warpgroup=64x128,stages=3,promote=128";
    constexpr std::string_view kThreads = "block=128x128x128,warpgroup=64x128,stages=3,promote=128,scales=threads";
    constexpr std::string_view kTurned = "block=128x24x128,warpgroup=64x24,swap_ab=1,stages=3,promote=128";
    struct Fault {
        std::string_view name, parameters, of_b, text, instead;
    };
    constexpr std::array kFaults{
        Fault{"the second columns have the first ones' scales", kTma, kOfB[2], "second * kBlockN + pair", "pair"},
        Fault{"the right half's scales are the left half's", kTma, kOfB[2], "part * args.n", "part * 0"},
        Fault{"the right half's boxes are the left half's", kTma, kOfB[0], "args.n + tile.column", "tile.column"},
        Fault{"sums are no pairs", kTma, kOfB[0], "line / 16 * 8 + line % 8", "line / 2"},
        Fault{"threads copy the left half twice", kThreads, kOfB[2], "args.sb + args.n / 128", "args.sb + 0"},
        Fault{"the right half's scales begin at a line", kThreads, kOfB[1], "args.sb + args.n,", "args.sb + 8,"},
        Fault{"D^T: the lower rows have the upper rows' scales", kTurned, kOfB[2], "scale_line(row + 8)",
              "scale_line(row)"},
        Fault{"D^T: the second warpgroup has the first one's scales", kTurned, kOfB[0], "(row + threadIdx.x / 32 % 4",
              "(threadIdx.x / 32 % 4"}};
    for (const Fault& fault : kFaults) {
        INFO(fault.name);
        const GemmSpec spec = scaled_pairs("sa[m,k/128]", fault.of_b, true, {136, 512, 512});
        const KernelConfig config =
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(fault.parameters)));
        CHECK(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.text).empty());
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
    }
}

TEST_CASE("scales of pairs whose right half begins within a block of columns are refused with the rule") {
    const Family& wgmma = family_of({WgmmaWarpSpecializedConfig{}});
    const auto reasons = [&](std::int64_t n) {
        const GemmSpec spec = with_text(spec_of(GemmLayout::tn, 128, n, 256, DataType::e4m3), kSwiGlu);
        return wgmma.unsupported(problem_of(resolved(spec)), find_arch("sm_90a"));
    };
    CHECK(reasons(512).empty());
    const auto refused = reasons(384);
    REQUIRE(refused.size() == 1);
    CHECK(refused.front().find("n is 384") == 0);
    CHECK(refused.front().find("multiple of 256") != std::string::npos);
}
