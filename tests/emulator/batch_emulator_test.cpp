/// Batches on the emulator: every family, matrices one behind the other, side by side, shared and overlapping, with C
/// and texts. verify() checks each problem of a batch, and what lies between their matrices.

#include "generator/families/family.hpp"
#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/simt_hierarchical_checks.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"
#include "tests/support/wmma_steps.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec batch_of(std::int64_t batch, GemmSpec spec) {
    spec.batch = batch;
    return spec;
}

/// Rows of a matrix hold a row of each problem, as rows of a sequence hold those of each attention head.
GemmSpec side_by_side(GemmSpec spec) {
    const auto lay_out = [&](std::int64_t run, std::int64_t& pitch, std::int64_t& stride) {
        stride = (run + 7) / 8 * 8;
        pitch = stride * spec.batch + 8;
    };
    lay_out(order_a(spec.layout) == Order::row ? spec.k : spec.m, spec.lda, spec.batch_stride_a);
    lay_out(order_b(spec.layout) == Order::row ? spec.n : spec.k, spec.ldb, spec.batch_stride_b);
    lay_out(spec.d_order == Order::row ? spec.n : spec.m, spec.ldd, spec.batch_stride_d);
    if (spec.c) spec.ldc = spec.ldd, spec.batch_stride_c = spec.batch_stride_d;
    return spec;
}

/// The i-th way in which the matrices of a batch lie.
GemmSpec laid_out(GemmSpec spec, std::size_t i) {
    switch (i % 5) {
        case 1: return side_by_side(spec);
        case 2: spec.batch_stride_b = 0; return spec;                                     // weights for all
        case 3: spec.batch_stride_a = 8, spec.batch_stride_c = 0; return spec;            // windows that overlap
        case 4: spec.batch_stride_d = (spec.m + 9) * (spec.n + 16) / 8 * 8; return spec;  // room between outputs
        default: return spec;                                                             // packed
    }
}

/// The i-th way in which the matrices of a batch of 2 · 3 problems lie along two dimensions.
GemmSpec laid_out_nested(GemmSpec spec, std::size_t i) {
    spec.batch = 6;
    if (i % 4 == 1 || i % 4 == 3) {
        spec.batch = 3;
        spec = side_by_side(spec);
        spec.batch = 6;
    }
    OuterBatch outer{.inner = 3};
    if (i % 4 == 0) outer.stride_a = 0, outer.stride_d = 8 * (spec.m + 9) * (spec.n + 16);
    if (i % 4 == 2) spec.batch_stride_a = spec.batch_stride_b = 0, outer.stride_c = 0;
    if (i % 4 == 3) outer.stride_b = 0, outer.stride_a = 8;  // overlaps the next head
    spec.outer = outer;
    return spec;
}

bool serves_batches(const WgmmaWarpSpecializedConfig& config) {
    return config.stream_k == 0 && config.persistent && config.warp_specialized;
}

void check_variant(std::string_view variant, std::size_t i) {
    using enum DataType;
    GemmSpec spec =
        spec_of(kLayouts.at(i % 4), 8 * static_cast<std::int64_t>(9 + i % 3), 72, 96, i % 3 == 0 ? f16 : bf16);
    spec.batch = static_cast<std::int64_t>(2 + i % 3);
    spec.d = std::array{spec.a, f32, spec.a}.at(i % 3);
    if (i % 2 == 1) spec.c = spec.d;
    if (i % 7 == 3) spec.d_order = Order::column;
    INFO(variant << ", " << i);
    check_wgmma(on_hopper(), laid_out(spec, i), variant, {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F});
}

}  // namespace

TEST_CASE("emulated batches: every variant of wgmma, and every way in which matrices may lie") {
    std::size_t i = 0;
    OneIn tried(2);
    const auto check_all = [&](const auto& variants) {
        for (const std::string_view variant : variants) {
            ++i;
            if (serves_batches(wgmma_config(variant)) && tried.next()) check_variant(variant, i);
        }
    };
    check_all(kWgmmaVariants);
    check_all(kWgmmaRegisterVariants);
    CHECK(i == kWgmmaVariants.size() + kWgmmaRegisterVariants.size());
}

TEST_CASE("emulated batches: two dimensions, in every family") {
    std::size_t i = 0;
    for (const GemmLayout layout : kLayouts)
        for (const Sizes& size : {Sizes{72, 40, 104}, Sizes{67, 33, 75}})
            for (const DataType type : {DataType::bf16, DataType::f32}) {
                GemmSpec spec = spec_of(layout, size[0], size[1], size[2], type);
                if (++i % 2 == 0) spec.c = spec.d;
                if (i % 5 == 4) spec.d_order = Order::column;
                if (type == DataType::f32 && i % 3 == 0) spec.math = Math::f16x3;
                const GemmSpec laid = laid_out_nested(spec, i);
                const VerifyOptions options{.alpha = 2.0F, .beta = spec.c ? 0.5F : 0.0F};
                INFO(to_string(laid));
                for (const Family& family : family_table()) {
                    const Problem problem = problem_of(laid);
                    const GpuModel gpu = typical_gpu(find_arch("sm_90a"));
                    Selection selection;
                    selection.family = family.name;
                    const CandidateList list = list_candidates(problem, gpu, selection);
                    if (!list.accepted.empty())
                        static_cast<void>(check_kernel(on_hopper(), laid, list.accepted.front().config, options));
                }
            }
}

TEST_CASE("emulated batches: two dimensions, with every variant of wgmma") {
    std::size_t i = 0;
    OneIn tried(8);
    for (const std::string_view variant : kWgmmaVariants) {
        ++i;
        if (!serves_batches(wgmma_config(variant)) || !tried.next()) continue;
        GemmSpec spec = spec_of(kLayouts.at(i % 4), 8 * static_cast<std::int64_t>(9 + i % 3), 72, 96);
        if (i % 3 == 1) spec.c = spec.d;
        INFO(variant << ", " << i);
        check_wgmma(on_hopper(), laid_out_nested(spec, i), variant, {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F});
    }
}

TEST_CASE("emulated batches: two dimensions, symmetric, of eight bits, and with texts") {
    GemmSpec symmetric = spec_of(GemmLayout::tn, 72, 72, 40);
    symmetric.symmetric = true;
    symmetric.batch = 6;
    symmetric.outer = OuterBatch{.inner = 3, .stride_a = 0, .stride_d = 3 * 72 * 72 + 64};
    static_cast<void>(check_chosen(on_hopper(), symmetric));
    for (const DataType type : {DataType::e4m3, DataType::s8})
        static_cast<void>(check_chosen(on_hopper(), laid_out_nested(spec_of(GemmLayout::nn, 72, 48, 80, type), 2)));
    GemmSpec text = laid_out_nested(spec_of(GemmLayout::tn, 72, 48, 80), 1);
    text.epilogue = EpilogueText("d = relu(acc + bias[b,n]) * up[b,m,n]; pre[b,m,n] = acc")
                        .with("bias", {.batch_stride = 0, .outer_stride = 56})
                        .with("up", {.outer_stride = 3 * 72 * 48 + 8});
    static_cast<void>(check_chosen(on_hopper(), text));
    static_cast<void>(check_chosen(on_emulator(), text));
}

TEST_CASE("emulated batches: operands that TMA can't address are packed, one problem after the other") {
    for (const GemmLayout layout : kLayouts) {
        GemmSpec spec = batch_of(3, spec_of(layout, 67, 45, 50));
        check_wgmma(on_hopper(), spec, "block=64x48x64,warpgroup=64x48,stages=4,store=smem");
        spec.batch_stride_a = 0;
        spec.batch_stride_b = 50 * 45 + 3;
        check_wgmma(on_hopper(), spec, "block=64x48x64,warpgroup=64x48,stages=4,store=smem");
    }
}

TEST_CASE("emulated batches: eight bits, f32 in parts, integers") {
    std::size_t i = 0;
    for (const GemmLayout layout : kLayouts) {
        for (const DataType type : {DataType::e4m3, DataType::s8, DataType::f32}) {
            GemmSpec spec = batch_of(3, spec_of(layout, 72, 48, 80, type));
            if (type == DataType::f32) spec.math = i % 2 == 0 ? Math::f16x3 : Math::bf16x6;
            INFO(to_string(spec));
            static_cast<void>(check_chosen(on_hopper(), laid_out(spec, ++i)));
        }
    }
}

TEST_CASE("emulated batches: kernels without TMA") {
    std::size_t i = 0;
    OneIn tried(2);
    for (const GemmLayout layout : kLayouts)
        for (const Sizes& size : {Sizes{67, 33, 75}, Sizes{72, 40, 104}}) {
            GemmSpec spec = batch_of(3, spec_of(layout, size[0], size[1], size[2]));
            if (++i % 2 == 0) spec.c = DataType::bf16;
            const GemmSpec laid = i % 2 == 0 || i % 5 != 3 ? laid_out(spec, i) : spec;
            const VerifyOptions options{.alpha = 2.0F, .beta = spec.c ? 0.5F : 0.0F};
            INFO(to_string(laid));
            for (const char* const variant : kVariants)
                if (std::string_view(variant).find("split_k") == std::string_view::npos && tried.next())
                    static_cast<void>(check_with(on_emulator(), laid, variant, options));
            static_cast<void>(check_with(on_hopper(), laid, kClusterVariants.at(i % kClusterVariants.size()), options));
            const KernelConfig wmma =
                with_parameters({WmmaMultistageConfig{}}, parse_parameters("block=64x32x32,warp=32x16"));
            static_cast<void>(check_kernel(on_emulator(), laid, wmma, options));
        }
}

TEST_CASE("emulated batches: FP32 cores") {
    std::size_t i = 0;
    for (const std::string_view variant : kHierarchicalVariants) {
        const KernelConfig config = with_parameters({SimtHierarchicalConfig{}}, parse_parameters(std::string(variant)));
        const auto& own = config.as<SimtHierarchicalConfig>();
        if (own.split_k > 1 || own.blocks_per_wave > 0) continue;
        GemmSpec spec = batch_of(3, spec_of(kLayouts.at(++i % 4), 68, 52, 44, DataType::f32));
        if (!own.predicated) spec.m = own.block.m, spec.n = own.block.n, spec.k = 2 * own.block.k;
        INFO(variant);
        static_cast<void>(check_kernel(on_emulator(), laid_out(spec, i), config));
    }
}

TEST_CASE("emulated batches: texts with values of each problem and of all") {
    constexpr std::array<std::string_view, 6> kTexts{"d = relu(acc + bias[b,n])",
                                                     "row: f32[b,m]; x: f16[b,m,n]; d = acc * row[b,m] + x[b,m,n]",
                                                     "d = silu(acc + bias[n]) * x[m,n]",
                                                     "s: f32[b]; d = acc * s[b] + beta * x[b,m,n]",
                                                     "t = acc + bias[b,n]; d = relu(t); pre[b,m,n] = t",
                                                     "d[m,h] = silu(left(acc + bias[b,n])) * right(acc)"};
    std::size_t i = 0;
    for (const std::string_view text : kTexts) {
        GemmSpec spec = batch_of(3, spec_of(kLayouts.at(i % 4), 72, 64, 40));
        spec.epilogue = text;
        if (++i == 2) spec.epilogue = spec.epilogue.with("x", {.ld = 72, .batch_stride = 72 * 72 + 8});
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec));
        static_cast<void>(check_chosen(on_emulator(), spec));
        if (i == 6) break;  // pairs have a row-major D
        spec.d_order = Order::column;
        static_cast<void>(check_chosen(on_hopper(), spec));
    }
}

TEST_CASE("emulated batches: planted faults are found") {
    GemmSpec spec = batch_of(3, spec_of(GemmLayout::tn, 72, 40, 64));
    spec.c = DataType::bf16;
    const KernelConfig with_pointers{with_parameters({MmaMultistageConfig{}}, parse_parameters(kVariants[0]))};
    check_faults(on_hopper(), spec, with_pointers,
                 {{"args.a += problem * args.batch_stride_a", "args.a += 0"},
                  {"args.b += problem * args.batch_stride_b", "args.b += problem * args.ldb"},
                  {"args.c += problem * args.batch_stride_c", "args.c += 0"},
                  {"args.d += problem * args.batch_stride_d", "args.d += args.ldd"},
                  {"blockIdx.z) * gridDim.y + blockIdx.y", "blockIdx.z) * gridDim.y"}});
    const KernelConfig with_maps{wgmma_config("block=64x48x64,warpgroup=64x48,stages=4")};
    check_faults(on_hopper(), spec, with_maps,
                 {{"args.map_a.problem = ", "args.map_a.problem = 0 * "},
                  {"args.batch_stride_b == 0 ? 0 : ", "args.batch_stride_b == 0 ? 0 : 1 - "},
                  {"args.map_d.problem = ", "args.map_d.problem = 2 - "},
                  {"count *= args.batch", "count *= args.batch - 1"},
                  {"index / (tiles.m * tiles.n)", "index / (tiles.m * tiles.n) / 2"}});
}

TEST_CASE("emulated batches: without problems, without K, without alpha") {
    for (const DataType type : {DataType::bf16, DataType::f32}) {
        GemmSpec spec = batch_of(0, spec_of(GemmLayout::tn, 64, 64, 64, type));
        static_cast<void>(check_chosen(on_hopper(), spec));
        spec.batch = 3;
        check_unread_operands(spec, [](const GemmSpec& asked, const VerifyOptions& options) {
            static_cast<void>(check_chosen(on_hopper(), asked, options));
        });
    }
}
