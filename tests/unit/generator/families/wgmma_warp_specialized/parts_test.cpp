// Kernels that multiply f32 in parts: what asks for them, what serves them, what does not and why, names, workspace.

#include "generator/base/packed_operand.hpp"
#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/wgmma_choice.hpp"

#include <fmt/ranges.h>

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
    CHECK(uses_wgmma(f32(2048, 2048, 2048, Math::bf16x3)));
    CHECK_FALSE(uses_wgmma(f32(4096, 4096, 4096, Math::ieee)));
    CHECK_FALSE(uses_wgmma(f32(4096, 4096, 4096), "a100"));
    CHECK_FALSE(uses_wgmma(f32(8, 4096, 4096)));
    CHECK_FALSE(uses_wgmma(f32(4096, 4096, 16)));  // half of each group of K would be empty
}

TEST_CASE("f32 in parts: no candidate breaks a rule, and names say the math") {
    for (const std::int64_t m : {130, 4096})
        for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
            GemmSpec spec = f32(m, 1000, 3000);
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
            CHECK_THAT(name, ContainsSubstring("_f16x3_"));
            CHECK(parse_kernel_name(name).signature == problem.signature);
        }
}

TEST_CASE("f32 in parts: configs that no kernel has") {
    const GemmSpec spec = f32(256, 256, 256);
    CHECK(broken_rules(spec, kConfig).empty());
    CHECK_THAT(broken_rules(spec, "block=128x128x32,warpgroup=64x128,stages=3"), Says("promote = 0", "f16x3", "32"));
    CHECK_THAT(broken_rules(spec, "block=128x128x48,warpgroup=64x128,stages=3,promote=32"), Says("48", "32"));
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",swap_ab=1"), Says("swap_ab", "f16x3"));
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",a_source=rmem"), Says("a_source", "f32"));
    CHECK_THAT(broken_rules(spec, "block=256x128x32,warpgroup=128x128,schedule=overlapped,stages=3,promote=32"),
               Says("overlapped"));
    CHECK_THAT(broken_rules(f32(256, 256, 256, Math::ieee), kConfig), Says("f32", "math=f16x3"));
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
