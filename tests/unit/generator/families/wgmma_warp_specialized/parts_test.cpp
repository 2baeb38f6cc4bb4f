// Kernels that multiply f32 in parts: what asks for them, what serves them, what does not and why, names, workspace.

#include "generator/base/packed_operand.hpp"
#include "generator/families/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/wgmma_choice.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

GemmSpec f32(std::int64_t m, std::int64_t n, std::int64_t k, Math math = Math::f16x3) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, DataType::f32);
    spec.math = math;
    return spec;
}

constexpr const char* kConfig = "block=128x128x32,warpgroup=64x128,stages=3,promote=32";

}  // namespace

TEST_CASE("f32 in parts: only f32 operands have parts") {
    GemmSpec spec = spec_of(GemmLayout::tn, 64, 64, 64, DataType::bf16);
    spec.math = Math::f16x3;
    CHECK_THAT(fmt::format("{}", fmt::join(problems(spec), "; ")), Says("math is f16x3", "bf16", "ieee"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v5 m=64 n=64 k=64 a=f32 math=f16x4"), Says("math", "'f16x4'", "bf16x3"));
    CHECK(problems(f32(64, 64, 64)).empty());
}

TEST_CASE("f32 in parts: tensor cores multiply where that is asked for, pays and is possible") {
    CHECK(uses_wgmma(f32(4096, 4096, 4096)));
    for (const Math math : {Math::bf16x3, Math::bf16x6, Math::tf32x3}) CHECK(uses_wgmma(f32(2048, 2048, 2048, math)));
    CHECK_FALSE(uses_wgmma(f32(4096, 4096, 4096, Math::ieee)));
    CHECK_FALSE(uses_wgmma(f32(4096, 4096, 4096), "a100"));
    CHECK_FALSE(uses_wgmma(f32(8, 4096, 4096)));
    CHECK_FALSE(uses_wgmma(f32(4096, 4096, 16)));  // half of each group of K would be empty
}

TEST_CASE("f32 in parts: no candidate breaks a rule, and names say the math") {
    const Math math = GENERATE(Math::f16x3, Math::bf16x6, Math::tf32x3);
    for (const std::int64_t m : {130, 4096})
        for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
            GemmSpec spec = f32(m, 1000, 3000, math);
            spec.layout = layout;
            const Problem problem = problem_of(spec);
            const auto candidates = WgmmaWarpSpecialized::candidates(problem, find_gpu("h200"));
            REQUIRE(!candidates.empty());
            for (const WgmmaWarpSpecializedConfig& config : candidates) {
                INFO(parameters_text({config}));
                CHECK(WgmmaWarpSpecialized::violations(problem, config, find_arch("sm_90a")).empty());
                CHECK_FALSE(config.dependent_launch);
            }
            const std::string name = kernel_name(problem, KernelConfig{candidates.front()});
            CHECK_THAT(name, ContainsSubstring(fmt::format("_{}_", to_string(math))));
            CHECK(parse_kernel_name(name).signature == problem.signature);
        }
}

TEST_CASE("f32 in parts: configs that no kernel has") {
    const GemmSpec spec = f32(256, 256, 256);
    CHECK(broken_rules(spec, kConfig).empty());
    CHECK_THAT(broken_rules(spec, "block=128x128x32,warpgroup=64x128,stages=3"), Says("promote = 0", "f16x3", "32"));
    CHECK_THAT(
        broken_rules(f32(256, 256, 256, Math::bf16x6), "block=64x8x32,warpgroup=64x8,stages=4,cluster=8x1,promote=32"),
        Says("1 rows of 64 bytes", "128"));
    CHECK_THAT(broken_rules(f32(256, 256, 256, Math::bf16x6), "block=64x24x32,warpgroup=64x24,stages=4,promote=32"),
               Says("a stage has 16896 bytes", "1024", "bf16x6"));
    CHECK_THAT(broken_rules(spec, "block=128x128x48,warpgroup=64x128,stages=3,promote=32"), Says("48", "32"));
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",swap_ab=1"), Says("swap_ab", "f16x3"));
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",a_source=rmem"), Says("a_source", "f32"));
    CHECK_THAT(broken_rules(spec, "block=256x128x32,warpgroup=128x128,schedule=overlapped,stages=3,promote=32"),
               Says("overlapped"));
    CHECK_THAT(broken_rules(f32(256, 256, 256, Math::ieee), kConfig), Says("f32", "math", "ieee"));
    GemmSpec pairs = spec;
    pairs.epilogue = "d[m,h] = left(acc) * right(acc)";
    CHECK_THAT(broken_rules(pairs, kConfig), Says("f32", "pairs", "16 bits"));
}

TEST_CASE("f32 in parts: rows of D may not depend on others, where that is asked for") {
    GemmSpec spec = f32(256, 256, 256);
    spec.deterministic = Determinism::batch_invariant;
    CHECK(broken_rules(spec, kConfig).empty());
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",stream_k=7"), Says("batch_invariant"));
    CHECK(uses_wgmma(spec));
    CHECK_FALSE(uses_wgmma(spec, "a100"));
    for (const std::int64_t k : {0, 1, 16, 256}) {
        spec = f32(3, 256, k);  // as rows of larger problems
        spec.deterministic = Determinism::batch_invariant;
        CHECK(uses_wgmma(spec));
    }
}

TEST_CASE("f32 in parts: the workspace holds copies in whole groups of K and factors of lines") {
    const GemmSpec spec = resolved(f32(300, 204, 1001));
    const Problem problem = problem_of(spec);
    const std::vector<KernelEntry> entries = WgmmaWarpSpecialized::entries(problem.signature, wgmma_config(kConfig));
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].function == "gemm_split");
    CHECK(block_count(entries[0].grid, spec) == 300 + 204);
    CHECK(block_count(entries[0].grid, f32(300, 204, 0)) == 300 + 204);  // factors are read where K is 0, too
    constexpr std::int64_t kPartsA = 300 * 1024 * 4, kFactorsA = 2560, kPartsB = 204 * 1024 * 4, kFactorsB = 1792;
    CHECK(packed_offset(ArgumentRole::packed_b, spec) == kPartsA + kFactorsA);
    CHECK(WgmmaWarpSpecialized::workspace_bytes(problem, wgmma_config(kConfig)) ==
          kPartsA + kFactorsA + kPartsB + kFactorsB);
    const std::string main =
        host_main(generate(problem, KernelConfig{wgmma_config(kConfig)}, find_arch("sm_90a")), problem);
    CHECK_THAT(main, ContainsSubstring("(CUdeviceptr)workspace, 1024, kM, 1024,"));
    CHECK_THAT(main, ContainsSubstring(fmt::format("(CUdeviceptr)workspace + {}", kPartsA + kFactorsA)));
}

TEST_CASE("f32 in parts: a group of K has three parts of bf16, or two of tf32, and no factors") {
    struct Row {
        Math math;
        std::int64_t line_bytes;  // of a line of 1001
        int panel_bytes, panels, terms;
    };
    for (const Row& row : {Row{Math::f16x3, 1024 * 4, 128, 1, 3},
                           {Math::bf16x6, 1024 * 6, 64, 3, 6},
                           {Math::tf32x3, 1024 * 8, 128, 2, 3}}) {
        INFO(to_string(row.math));
        const GemmSpec spec = resolved(f32(304, 256, 1001, row.math));
        const Problem problem = problem_of(spec);
        const std::int64_t factors = row.math == Math::f16x3 ? 304 * 8 + 128 : 0;
        CHECK(packed_offset(ArgumentRole::packed_b, spec) == 304 * row.line_bytes + factors);
        const WgmmaGeometry g = geometry(problem.signature, wgmma_config(kConfig));
        CHECK(g.a.panel_bytes == row.panel_bytes);
        CHECK(g.a.panels == row.panels);
        CHECK(g.stage_bytes == 256 * row.panels * row.panel_bytes);
        CHECK(g.terms == row.terms);
        const std::string main =
            host_main(generate(problem, KernelConfig{wgmma_config(kConfig)}, find_arch("sm_90a")), problem);
        CHECK_THAT(main, ContainsSubstring(fmt::format("(CUdeviceptr)workspace, {0}, kM, {0},", row.line_bytes / 4)));
    }
}

TEST_CASE("f32 in parts: six products take twice the time of three, and so do three of tf32") {
    const GpuModel& gpu = find_gpu("h200");
    const auto best_us = [&](Math math) {
        const Problem problem = problem_of(f32(8192, 8192, 8192, math));
        double best = 1e9;
        for (const WgmmaWarpSpecializedConfig& config : WgmmaWarpSpecialized::candidates(problem, gpu))
            best = std::min(best, WgmmaWarpSpecialized::cost(problem, config, gpu, WgmmaCosts::of(gpu)).total_us);
        return best;
    };
    const double three = best_us(Math::f16x3);
    for (const Math math : {Math::bf16x6, Math::tf32x3}) {
        INFO(to_string(math));
        CHECK(best_us(math) > 1.7 * three);
        CHECK(best_us(math) < 2.2 * three);
    }
}
