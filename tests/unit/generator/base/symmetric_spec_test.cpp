/// Specs of symmetric products: their rules, text, operands and kernels' names, and the tiles that a launch deals out.

#include "generator/base/operand.hpp"
#include "generator/base/problem.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/families/wgmma_warp_specialized/triangle.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/default_math.hpp"
#include "tests/catch.hpp"
#include "tests/support/symmetric_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

std::string refusal(const GemmSpec& spec) { return fmt::format("{}", fmt::join(problems(spec), "; ")); }

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

GemmSpec plain() { return symmetric_of(GemmLayout::tn, 480, 64); }

}  // namespace

TEST_CASE("symmetric: B is A's memory, and callers have none") {
    GemmSpec spec = plain();
    spec.lda = 68;
    spec.constant_a = true;
    const GemmSpec whole = resolved(spec);
    CHECK(whole.ldb == 68);
    CHECK(whole.align_b == whole.align_a);
    CHECK(whole.constant_b);
    CHECK(resolved(whole) == whole);
    CHECK(gemm_operands(whole).find("b") == nullptr);
    const auto operands = kernel_operands(whole);
    const GemmOperand& b = *operands.find("b");
    CHECK(b.pointer == &GemmArguments::a);
    CHECK(b.leading_dimension() == 68);
    CHECK(operand_extents(whole).b == 0);
    CHECK(flops(whole) == 480.0 * 481 * 64);
    CHECK(operand_bytes(whole) == 480.0 * 64 * 2);
}

TEST_CASE("symmetric: the text names it, and reads back") {
    const GemmSpec spec = resolved(plain());
    CHECK(mentions(to_string(spec), "gemm-v8 "));
    CHECK(mentions(to_string(spec), " symmetric=yes"));
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    CHECK(shape_line(spec) == "bf16 tn 480 480 64 symmetric=yes");
    CHECK(parse_shape_line(shape_line(spec)).symmetric);
    CHECK_THROWS_AS(parse_gemm_spec("gemm-v7 m=8 n=8 k=8 symmetric=yes"), SpecError);
    CHECK_FALSE(resolved(spec_of(GemmLayout::tn, 480, 480, 64)) == spec);
}

TEST_CASE("symmetric: the rules name the value") {
    CHECK(refusal(plain()).empty());
    const auto with = [](auto change) {
        GemmSpec spec = plain();
        change(spec);
        return refusal(spec);
    };
    CHECK(mentions(with([](GemmSpec& s) { s.n = 481; }), "m is 480 and n is 481"));
    CHECK(mentions(with([](GemmSpec& s) { s.b = DataType::f16; }), "a is bf16 and b is f16"));
    CHECK(mentions(with([](GemmSpec& s) { s.layout = GemmLayout::nn; }),
                   "the layout is nn: B is A transposed, which is nt"));
    CHECK(mentions(with([](GemmSpec& s) { s.layout = GemmLayout::tt; }), "which is tn"));
    CHECK(mentions(with([](GemmSpec& s) { s.ldb = 72; }), "ldb is 72"));
    CHECK(mentions(with([](GemmSpec& s) { s.align_b = 8; }), "align_b is 8"));
    CHECK(mentions(with([](GemmSpec& s) { s.c = s.d; }), "c is bf16"));
    CHECK(mentions(with([](GemmSpec& s) { s.groups = 2; }), "groups is 2"));
    CHECK(mentions(with([](GemmSpec& s) { s.epilogue = "d = acc + bias[n]"; }), "reads bias[n]"));
    CHECK(mentions(with([](GemmSpec& s) { s.epilogue = "d = acc * s[0]"; }), "reads s[0]"));
    CHECK(mentions(with([](GemmSpec& s) { s.epilogue = "d = acc; most[0] = max(abs(acc))"; }), "most[0]"));
    CHECK(mentions(with([](GemmSpec& s) { s.epilogue = "d[m,h] = left(acc) * right(acc)"; }), "pairs of columns"));
    CHECK(with([](GemmSpec& s) { s.epilogue = "d = relu(alpha * acc)"; }).empty());
    CHECK(with([](GemmSpec& s) { s.batch = 2; }).empty());
    GemmSpec single = symmetric_of(GemmLayout::nt, 32, 8, DataType::f32);
    single.math = Math::f16x3;
    CHECK(mentions(refusal(single), "math is f16x3"));
    single.math = Math::tf32;
    CHECK(refusal(single).empty());
}

TEST_CASE("symmetric: a math for all f32 problems counts where it makes symmetric products") {
    const GemmSpec spec = symmetric_of(GemmLayout::tn, 32, 8, DataType::f32);
    Options options;
    options.math = Math::f16x3;
    CHECK_FALSE(takes_default_math(spec, options));
    options.math = Math::tf32;
    CHECK(takes_default_math(spec, options));
}

TEST_CASE("symmetric: kernels have a name of their own, which reads back") {
    for (const auto& [type, gpu] : {std::pair{DataType::bf16, "h200"}, std::pair{DataType::bf16, "a100"},
                                    std::pair{DataType::f32, "h200"}, std::pair{DataType::e4m3, "h200"}}) {
        const Problem problem = problem_of(symmetric_of(GemmLayout::tn, 4096, 512, type));
        const KernelId id{problem.signature, choose_config(problem, find_gpu(gpu))};
        CHECK(mentions(kernel_name(id), "_symmetric_"));
        CHECK(parse_kernel_name(kernel_name(id)) == id);
    }
    GemmSpec column = plain();
    column.d_order = Order::column;
    CHECK(problem_of(column).signature == problem_of(plain()).signature);
}

TEST_CASE("symmetric: the choice multiplies about half of the tiles") {
    for (const std::int64_t m : {4096, 8192}) {
        const Problem problem = problem_of(symmetric_of(GemmLayout::tn, m, m));
        const GpuModel& gpu = find_gpu("h200");
        const KernelConfig config = choose_config(problem, gpu);
        const auto* const wgmma = std::get_if<WgmmaWarpSpecializedConfig>(&config.family);
        REQUIRE(wgmma != nullptr);
        const TileIndex dealt = dealt_tiles(problem.row_major(), *wgmma);
        const std::int64_t computed =
            dealt.m * dealt.n * wgmma->block.m * wgmma->block.n * wgmma->cluster.m * wgmma->cluster.n;
        CHECK(static_cast<double>(computed) < 0.54 * static_cast<double>(m * m));
        GemmSpec full = problem.asked;
        full.symmetric = false;
        const KernelConfig whole = choose_config(problem_of(full), gpu);
        CHECK(family_of(config).cost(problem, config, gpu).total_us <
              0.62 * family_of(whole).cost(problem_of(full), whole, gpu).total_us);
    }
}

TEST_CASE("symmetric: a launch deals out the tiles on and above the diagonal, each once") {
    for (const std::string_view variant : kSymmetricVariants)
        for (const std::int64_t m : {1, 64, 65, 256, 257, 640, 1000, 1500}) {
            const WgmmaWarpSpecializedConfig c = wgmma_config(variant);
            const GemmSpec spec = resolved(symmetric_of(GemmLayout::tn, m, 64));
            INFO(variant << ", " << m);
            REQUIRE(has_squares(c));
            const std::int64_t tile_m = c.block.m * c.cluster.m, tile_n = c.block.n * c.cluster.n;
            const std::int64_t down = square_of(c) / tile_m, across = square_of(c) / tile_n;
            const std::int64_t squares = (m + square_of(c) - 1) / square_of(c);
            const TileIndex dealt = dealt_tiles(spec, c);
            CHECK(dealt.m * dealt.n == squares * (squares + 1) / 2 * down * across);
            std::set<std::pair<std::int64_t, std::int64_t>> places;
            for (std::int64_t i = 0; i < squares * down; ++i)
                for (std::int64_t j = i / down * across; j < squares * across; ++j) {
                    const TileIndex place = place_among_dealt({i, j}, spec, c);
                    CHECK((place.m >= 0 && place.m < dealt.m && place.n >= 0 && place.n < dealt.n));
                    places.insert({place.m, place.n});
                }
            CHECK(static_cast<std::int64_t>(places.size()) == dealt.m * dealt.n);
        }
}

TEST_CASE("symmetric: what a config must be like") {
    const auto violations = [](std::string_view parameters) { return wgmma_violations(plain(), parameters); };
    for (const std::string_view variant : kSymmetricVariants)
        if (variant.find("stream_k") == std::string_view::npos) CHECK(violations(variant).empty());
    CHECK(mentions(violations("block=128x192x64,warpgroup=64x192,stages=3"), "block_tile = 128x192"));
    CHECK(mentions(violations("block=64x72x64,warpgroup=64x72,stages=3"), "warpgroup_tile.n = 72"));
    CHECK(mentions(violations("block=64x8x64,warpgroup=64x8,stages=3"), "slices of 8 columns"));
    CHECK(mentions(violations("block=64x64x64,warpgroup=64x64,stages=3,swap_ab=1"), "its own transpose"));
    CHECK(mentions(violations("block=64x64x64,warpgroup=64x64,stages=3,persistent=0"), "take several tiles"));
}
