/// Groups of rows on the emulator: every variant that serves them, every layout, texts, C. verify() checks each group
/// from the same offsets, and the rows behind the last one.

#include "runtime/context/context_state.hpp"
#include "runtime/verify/group_sizes.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::array kServed{GemmLayout::tn, GemmLayout::tt};  // A's rows are contiguous

GemmSpec groups_of(std::int64_t groups, GemmSpec spec) {
    spec.groups = groups;
    return spec;
}

bool serves_groups(const WgmmaWarpSpecializedConfig& config) {
    return config.stream_k == 0 && config.persistent && config.warp_specialized && !config.swap_ab && !config.early_a &&
           !config.early_b;
}

void check_variant(std::string_view variant, std::size_t i) {
    using enum DataType;
    GemmSpec spec = groups_of(static_cast<std::int64_t>(2 + i % 12),
                              spec_of(kServed.at(i % 2), 8 * static_cast<std::int64_t>(12 + i % 5), 104, 64));
    spec.d = std::array{spec.a, f32, spec.a}.at(i % 3);
    if (i % 2 == 1) spec.c = spec.d;
    INFO(variant << ", " << i << ", " << to_string(spec));
    WgmmaWarpSpecializedConfig config = wgmma_config(variant);
    config.slices = std::min(config.slices, 2);  // the table of groups takes shared memory, too
    if (config.stages > 2) --config.stages;
    static_cast<void>(check_kernel(on_hopper(), spec, KernelConfig{config},
                                   {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F, .seed = 1 + i}));
}

}  // namespace

TEST_CASE("emulated groups: every variant of wgmma that takes one tile after the other") {
    std::size_t i = 0, serving = 0;
    OneIn tried(2);
    const auto check_all = [&](const auto& variants) {
        for (const std::string_view variant : variants) {
            ++i;
            if (!serves_groups(wgmma_config(variant))) continue;
            ++serving;
            if (tried.next()) check_variant(variant, i);
        }
    };
    check_all(kWgmmaVariants);
    check_all(kWgmmaRegisterVariants);
    CHECK(serving >= 25);
}

TEST_CASE("emulated groups: random problems") {
    std::mt19937_64 random(11);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    for (int i = 0; i < 16; ++i) {
        GemmSpec spec = groups_of(1 + below(i % 4 == 0 ? 200 : 12),
                                  spec_of(kServed.at(static_cast<std::size_t>(below(2))), 8 + 8 * below(24),
                                          8 * (1 + below(20)), 8 * (1 + below(16))));
        if (below(3) == 0) spec.c = spec.d;
        if (below(3) == 0) spec.group_rows = 1 + below(100), spec.m = spec.groups * spec.group_rows;
        if (below(3) == 0) spec.expected_rows = 1 + below(300);
        if (below(3) == 0) spec.deterministic = Determinism::batch_invariant;
        INFO(to_string(spec));
        static_cast<void>(
            check_chosen(on_hopper(), spec, {.beta = spec.c ? 1.0F : 0.0F, .seed = static_cast<std::uint64_t>(i)}));
    }
}

TEST_CASE("emulated groups: eight bits, integers and tf32") {
    for (const DataType type : {DataType::e4m3, DataType::e5m2, DataType::s8, DataType::f32}) {
        GemmSpec spec = groups_of(5, spec_of(GemmLayout::tn, 96, 64, 96, type));  // other layouts are transposed first
        if (type == DataType::f32) spec.math = Math::tf32;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec));
    }
}

TEST_CASE("emulated groups: D of eight bits") {
    std::uint64_t seed = 0;
    for (const DataType type : {DataType::e4m3, DataType::e5m2, DataType::s8})
        for (const std::string_view variant :
             {"block=64x48x128,warpgroup=64x48,stages=4", "block=128x80x128,warpgroup=64x80,stages=3,slices=1",
              "block=128x32x128,warpgroup=128x32,schedule=pingpong,stages=4",
              "block=64x16x128,warpgroup=64x16,stages=4,dependent_launch=1"}) {
            GemmSpec spec =
                groups_of(static_cast<std::int64_t>(3 + seed % 7), spec_of(GemmLayout::tn, 200, 112, 96, type));
            spec.d = type;
            if (seed % 3 == 0) spec.group_rows = 37, spec.m = 37 * spec.groups;
            const std::string promote = type == DataType::s8 ? "" : ",promote=128";
            INFO(variant << ", " << to_string(spec));
            check_wgmma(on_hopper(), spec, std::string(variant) + promote, {.seed = ++seed});
            if (type == DataType::s8) continue;
            spec.epilogue = seed % 2 == 0
                                ? "w: f32[m]; bias: f16[b,n]; d = (acc + bias[b,n]) * w[m]"
                                : "x: f16[m,n]; pre: f32[m,n]; t = acc * sa[k/128,m]; pre[m,n] = t; d = t + x[m,n]";
            check_wgmma(on_hopper(), spec,
                        std::string(variant) + promote + ",scales=" + (seed % 2 == 0 ? "tma" : "threads"),
                        {.seed = seed});
        }
    GemmSpec spec = groups_of(7, spec_of(GemmLayout::tn, 400, 48, 64, DataType::e4m3));
    spec.d = DataType::e4m3;
    const KernelConfig config{wgmma_config("block=64x48x128,warpgroup=64x48,stages=4,promote=128")};
    CHECK(complaint_about(on_hopper(), resolved(spec), config, "min(16, edges.end_row - row)",
                          "min(16, edges.end_row - row)")
              .empty());
    CHECK_FALSE(
        complaint_about(on_hopper(), resolved(spec), config, "min(16, edges.end_row - row)", "min(16, args.m - row)")
            .empty());
}

TEST_CASE("emulated groups: texts with values of each group and each row") {
    constexpr std::array<std::string_view, 6> kTexts{"d = relu(acc + bias[b,n])",
                                                     "w: f32[m]; x: f16[m,n]; d = acc * w[m] + x[m,n]",
                                                     "d = silu(acc + bias[n]) * x[m,n]",
                                                     "s: f32[b]; d = acc * s[b] + beta * x[m,n]",
                                                     "t = acc + bias[b,n]; d = relu(t); pre[m,n] = t",
                                                     "d[m,h] = silu(left(acc + bias[b,n])) * right(acc)"};
    std::size_t i = 0;
    for (const std::string_view text : kTexts) {
        GemmSpec spec = groups_of(7, spec_of(++i == 6 ? GemmLayout::tn : kServed.at(i % 2), 136, 64, 40));
        spec.epilogue = text;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec, {.seed = i}));
    }
}

TEST_CASE("emulated groups: matrices that lie apart, are shared or have one row") {
    GemmSpec spec = groups_of(5, spec_of(GemmLayout::tn, 88, 72, 64));
    spec.batch_stride_b = 72 * 64 + 8;
    spec.lda = 80;
    spec.ldd = 96;
    static_cast<void>(check_chosen(on_hopper(), spec));
    spec.batch_stride_b = 0;
    static_cast<void>(check_chosen(on_hopper(), spec));
    static_cast<void>(check_chosen(on_hopper(), groups_of(3, spec_of(GemmLayout::tn, 1, 8, 8))));
    static_cast<void>(check_chosen(on_hopper(), groups_of(1024, spec_of(GemmLayout::tn, 1040, 8, 8))));
    spec = groups_of(3, spec_of(GemmLayout::tn, 40, 50, 64));  // rows of D that TMA can't store
    static_cast<void>(check_chosen(on_hopper(), spec));
}

TEST_CASE("emulated groups: without rows, without K, without alpha") {
    static_cast<void>(check_chosen(on_hopper(), groups_of(3, spec_of(GemmLayout::tn, 0, 64, 64))));
    check_unread_operands(groups_of(3, spec_of(GemmLayout::tn, 64, 64, 64)),
                          [](const GemmSpec& asked, const VerifyOptions& options) {
                              static_cast<void>(check_chosen(on_hopper(), asked, options));
                          });
}

TEST_CASE("emulated groups: planted faults are found") {
    const GemmSpec spec = groups_of(70, spec_of(GemmLayout::tn, 1200, 40, 64));
    const KernelConfig config{wgmma_config("block=64x24x64,warpgroup=64x24,stages=4,slices=2")};
    check_faults(on_hopper(), spec, config,
                 {{"row + 16 > edges.end_row", "row + 16 > args.m"},
                  {"min(16, edges.end_row - row)", "min(16, args.m - row)"},
                  {"static_cast<int>(problem)", "static_cast<int>(problem / 2)"},
                  {"tiles += before.tiles", "tiles += 0"},
                  {"int first_row = lane == 0 ? before.row : above", "int first_row = above"},
                  {"if (lane >= distance) tiles", "if (lane > distance) tiles"},
                  {"tile_of_block(index - before.tiles", "tile_of_block(index"},
                  {"int row = first_row + static_cast<int>(at.m", "int row = static_cast<int>(at.m"},
                  {"index >= group_end(table", "index > group_end(table"},
                  {"args.offsets[group + 32]", "args.offsets[group + 31]"}});
    GemmSpec with_room = groups_of(40, spec_of(GemmLayout::tn, 1200, 40, 64));
    with_room.group_rows = 30;
    check_faults(on_hopper(), with_room, config,
                 {{"row = first_row + rows_in_room", "row = first_row + args.group_rows"},
                  {"first_row = group * args.group_rows", "first_row = before.row"},
                  {"group_rows == 0 ? before.row : ", "group_rows == 0 ? 0 : before.row + 0 * "}});
}
