/// Groups of rows and of K in mma_multistage and simt_hierarchical, on the emulator: what wgmma and TMA don't serve.
/// verify() checks each group from the same offsets, and what lies behind the last one.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/simt_variants.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::array kLayouts{GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt};

GemmSpec groups_of(std::int64_t groups, GemmSpec spec) {
    spec.groups = groups;
    return spec;
}

GemmSpec groups_of_k(std::int64_t groups, GemmSpec spec) {
    spec.groups = groups;
    spec.ragged = Ragged::k;
    return spec;
}

void check_variants(Context& context, const auto& variants) {
    std::size_t i = 0;
    for (const std::string_view variant : variants) {
        if (variant.find("split_k") != std::string_view::npos && variant.find("cluster") == std::string_view::npos)
            continue;
        GemmSpec spec = groups_of(static_cast<std::int64_t>(2 + 5 * i % 13),
                                  spec_of(kLayouts.at(i % 4), 150 + 13 * static_cast<std::int64_t>(i), 72, 96));
        if (i % 3 == 1) spec.c = spec.d;
        if (i % 4 == 2) spec.group_rows = 29, spec.m = 29 * spec.groups;
        INFO(variant << ", " << to_string(spec));
        check_with(context, spec, std::string(variant), {.beta = spec.c ? 2.0F : 0.0F, .seed = ++i});
    }
}

/// The name of the family that serves the problem.
std::string check_served(Context& context, const GemmSpec& spec, std::uint64_t seed) {
    INFO(to_string(spec));
    const GemmKernel kernel = check_chosen(context, spec, {.beta = spec.c ? 1.0F : 0.0F, .seed = seed});
    return kernel ? kernel.info().name : "";
}

constexpr std::string_view kMma = "mma_multistage", kSimt = "simt_hierarchical";

}  // namespace

TEST_CASE("emulated groups on mma.sync: every variant, every layout") {
    check_variants(on_emulator(), kVariants);
    check_variants(on_hopper(), kClusterVariants);
}

TEST_CASE("emulated groups: random problems with any layout, pitch and alignment") {
    using enum DataType;
    std::mt19937_64 random(5);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    OneIn tried(2);
    for (std::uint64_t i = 0; i < 48; ++i) {
        const DataType type = std::array{f16, bf16, f32}.at(static_cast<std::size_t>(below(3)));
        GemmSpec spec =
            groups_of(1 + below(i % 8 == 0 ? 300 : 12), spec_of(kLayouts.at(static_cast<std::size_t>(below(4))),
                                                                1 + below(250), 1 + below(150), 1 + below(150), type));
        constexpr std::array kMaths{Math::ieee, Math::tf32, Math::f16x3, Math::bf16x6};
        if (type == f32) spec.math = kMaths.at(static_cast<std::size_t>(below(4)));
        if (below(3) == 0) spec.c = spec.d;
        if (below(3) == 0) spec.group_rows = 1 + below(70), spec.m = spec.groups * spec.group_rows;
        if (below(3) == 0) spec.expected_rows = 1 + below(200);
        if (below(4) == 0) spec.batch_stride_b = 0;
        Context& context = below(2) == 0 ? on_emulator() : on_hopper();
        // On Hopper, sums of all rows would have to be those of wgmma.
        if (&context == &on_emulator() && below(4) == 0) spec.deterministic = Determinism::batch_invariant;
        if (tried.next()) static_cast<void>(check_served(context, spec, i));
    }
}

TEST_CASE("emulated groups of K on mma.sync and FP32 cores: every variant, every layout, random problems") {
    using enum DataType;
    std::size_t i = 0;
    for (const std::string_view variant : kVariants) {
        if (variant.find("split_k") != std::string_view::npos) continue;
        GemmSpec spec = groups_of_k(static_cast<std::int64_t>(2 + 5 * i % 7),
                                    spec_of(kLayouts.at(i % 4), 72, 80, 200 + 31 * static_cast<std::int64_t>(i)));
        if (i % 3 == 1) spec.c = spec.d = f32;
        INFO(variant << ", " << to_string(spec));
        check_with(on_emulator(), spec, std::string(variant), {.beta = spec.c ? 2.0F : 0.0F, .seed = ++i});
    }
    std::mt19937_64 random(9);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    OneIn tried(2);
    for (; i < 40; ++i) {
        const DataType type = std::array{f16, bf16, f32}.at(static_cast<std::size_t>(below(3)));
        GemmSpec spec = groups_of_k(1 + below(9), spec_of(kLayouts.at(static_cast<std::size_t>(below(4))),
                                                          1 + below(90), 1 + below(90), 1 + below(700), type));
        constexpr std::array kMaths{Math::ieee, Math::tf32, Math::f16x3, Math::bf16x6};
        if (type == f32) spec.math = kMaths.at(static_cast<std::size_t>(below(4)));
        if (below(3) == 0) spec.c = spec.d;
        if (below(4) == 0) spec.epilogue = spec.c ? "" : "d = relu(acc) + bias[b,n]";
        Context& context = below(2) == 0 ? on_emulator() : on_hopper();
        if (tried.next()) static_cast<void>(check_served(context, spec, i));
    }
}

TEST_CASE("emulated groups of K on mma.sync: planted faults are found") {
    const GemmSpec spec = groups_of_k(5, spec_of(GemmLayout::tn, 40, 72, 300));
    const KernelConfig config =
        with_parameters({MmaMultistageConfig{}}, parse_parameters("block=32x32x32,warp=16x16,stages=3"));
    check_faults(on_emulator(), spec, config,
                 {{"group == 0 ? 0 :", "group <= 1 ? 0 :"},
                  {"offsets[group - 1], 0)", "offsets[group - 1] + 1, 0)"},
                  {"gridDim.y + blockIdx.y], first_k), args.k)", "gridDim.y + blockIdx.y], first_k), args.k) + 1"}});
}

TEST_CASE("emulated groups: groups end within tiles where all sizes are whole tiles") {
    for (const DataType type : {DataType::f32, DataType::bf16})
        for (const GemmLayout layout : kLayouts) {
            GemmSpec spec = groups_of(4, spec_of(layout, 512, 128, 128, type));
            INFO(to_string(spec));
            static_cast<void>(check_served(on_emulator(), spec, 1 + static_cast<std::uint64_t>(layout)));
            spec = groups_of_k(4, spec_of(layout, 128, 128, 512, type));
            static_cast<void>(check_served(on_emulator(), spec, 5 + static_cast<std::uint64_t>(layout)));
        }
    // The expected sizes are whole tiles, and the true ones are not.
    static_cast<void>(
        check_served(on_hopper(), groups_of(4, spec_of(GemmLayout::tn, 1022, 128, 64, DataType::f32)), 1));
    static_cast<void>(
        check_served(on_hopper(), groups_of_k(4, spec_of(GemmLayout::nt, 128, 128, 254, DataType::f32)), 2));
    GemmSpec pairs = groups_of(3, spec_of(GemmLayout::tn, 70, 24, 64));  // wgmma copies pairs by 16 columns
    pairs.epilogue = "d[m,h] = even(acc) * odd(acc)";
    CHECK(check_served(on_hopper(), pairs, 3).starts_with(kMma));
}

TEST_CASE("emulated groups: types and layouts that wgmma does not serve have another family") {
    GemmSpec spec = groups_of(5, spec_of(GemmLayout::tn, 131, 72, 64, DataType::f32));
    CHECK(check_served(on_hopper(), spec, 1).starts_with(kSimt));
    spec.math = Math::f16x3;
    CHECK(check_served(on_hopper(), spec, 2).starts_with(kMma));
    CHECK(check_served(on_emulator(), spec, 3).starts_with(kMma));
    CHECK(check_served(on_hopper(), groups_of(5, spec_of(GemmLayout::nn, 131, 72, 64)), 4).starts_with(kMma));
    CHECK(check_served(on_hopper(), groups_of(5, spec_of(GemmLayout::tn, 131, 71, 63)), 5).starts_with(kMma));
    CHECK(check_served(on_ada(), groups_of(5, spec_of(GemmLayout::tn, 131, 72, 64, DataType::e4m3)), 6)
              .starts_with(kMma));
    CHECK(check_served(on_emulator(), groups_of(5, spec_of(GemmLayout::tn, 131, 72, 68, DataType::s8)), 7)
              .starts_with(kMma));
}

TEST_CASE("emulated groups on mma.sync and FP32 cores: texts with values of each group and each row") {
    constexpr std::array<std::string_view, 5> kTexts{"w: f32[m]; x: f16[m,n]; d = acc * w[m] + x[m,n]",
                                                     "d = silu(acc + bias[b,n])", "s: f32[b]; d = acc * s[b] + bias[n]",
                                                     "t = acc + bias[b,n]; d = relu(t); pre[m,n] = t",
                                                     "d[m,h] = silu(left(acc + bias[b,n])) * right(acc)"};
    std::uint64_t i = 0;
    for (const std::string_view text : kTexts)
        for (const DataType type : {DataType::bf16, DataType::f32}) {
            const bool has_pairs = text.find("left") != std::string_view::npos;
            if (has_pairs && type == DataType::f32) continue;  // FP32 cores make no pairs
            GemmSpec spec = groups_of(7, spec_of(has_pairs ? GemmLayout::tn : kLayouts.at(i % 4), 137, 64, 40, type));
            spec.epilogue = text;
            static_cast<void>(check_served(on_emulator(), spec, ++i));
        }
}

TEST_CASE("emulated groups on mma.sync: without rows, without K, without alpha, many groups") {
    static_cast<void>(check_served(on_emulator(), groups_of(3, spec_of(GemmLayout::tn, 0, 64, 64)), 1));
    static_cast<void>(check_served(on_emulator(), groups_of(3, spec_of(GemmLayout::nn, 1, 1, 1)), 2));
    static_cast<void>(check_served(on_emulator(), groups_of(1024, spec_of(GemmLayout::tn, 1040, 8, 8)), 3));
    check_unread_operands(groups_of(3, spec_of(GemmLayout::tn, 64, 64, 64)),
                          [](const GemmSpec& asked, const VerifyOptions& options) {
                              static_cast<void>(check_chosen(on_emulator(), asked, options));
                          });
}

TEST_CASE("emulated groups on mma.sync: planted faults are found") {
    const GemmSpec spec = groups_of(70, spec_of(GemmLayout::tn, 1200, 40, 64));
    const KernelConfig config = with_parameters(
        {MmaMultistageConfig{}}, parse_parameters("block=32x32x32,warp=16x16,stages=3,rasterization=column"));
    check_faults(on_emulator(), spec, config,
                 {{"args.m = end;", ""},
                  {"move_to_problem(args, group)", "move_to_problem(args, group / 2)"},
                  {"return groups - 1;", "return groups - 2 >= 0 ? groups - 2 : 0;"},
                  {"/ kBlockM + group) <= row_tile", "/ kBlockM + group) < row_tile"},
                  {"first_row + tile * kBlockM", "tile * kBlockM"},
                  {"static_cast<unsigned>(args.m / kBlockM) + args.groups", "args.m / kBlockM + args.groups / 2"}});
    GemmSpec with_room = groups_of(40, spec_of(GemmLayout::tn, 1200, 40, 64));
    with_room.group_rows = 30;
    check_faults(on_emulator(), with_room, config,
                 {{"end = first_row + min(max(args.offsets[group], 0), args.group_rows)", "end = first_row + 30"},
                  {"const int first_row = group * args.group_rows", "const int first_row = group * 29"}});
}
