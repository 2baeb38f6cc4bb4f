// Kernels that multiply f32 as tf32: what asks for them, what serves them, names, copies of operands, maps.

#include "generator/base/packed_operand.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
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

GemmSpec tf32(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = spec_of(layout, m, n, k, DataType::f32);
    spec.math = Math::tf32;
    return spec;
}

std::string main_of(const GemmSpec& spec, std::string_view parameters) {
    const Problem problem = problem_of(spec);
    return host_main(generate(problem, KernelConfig{wgmma_config(parameters)}, find_arch("sm_90a")), problem);
}

constexpr const char* kConfig = "block=128x128x32,warpgroup=64x128,stages=3";
constexpr std::array kAllLayouts{GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt};

}  // namespace

TEST_CASE("tf32: tensor cores multiply where that is asked for and possible, else FP32 cores") {
    for (const GemmLayout layout : kAllLayouts) CHECK(uses_wgmma(tf32(layout, 4096, 4096, 4096)));
    CHECK_FALSE(uses_wgmma(tf32(GemmLayout::tn, 4096, 4096, 4096), "a100"));
    GemmSpec spec = tf32(GemmLayout::tn, 3, 256, 16);  // as rows of larger problems
    spec.deterministic = Determinism::batch_invariant;
    CHECK(uses_wgmma(spec));
    CHECK_FALSE(uses_wgmma(spec, "a100"));
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",stream_k=2"), Says("batch_invariant"));
}

TEST_CASE("tf32: no candidate breaks a rule, and names say the math") {
    for (const std::int64_t m : {9, 130, 4096})
        for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt})
            for (const DataType d : {DataType::f32, DataType::bf16}) {
                GemmSpec spec = tf32(layout, m, 1000, 3000);
                spec.d = d;
                const Problem problem = problem_of(spec);
                const auto candidates = WgmmaWarpSpecialized::candidates(problem, find_gpu("h200"));
                REQUIRE(!candidates.empty());
                for (const WgmmaWarpSpecializedConfig& config : candidates) {
                    INFO(parameters_text({config}));
                    CHECK(WgmmaWarpSpecialized::violations(problem, config, find_arch("sm_90a")).empty());
                }
                const std::string name = kernel_name(problem, KernelConfig{candidates.front()});
                CHECK_THAT(name, ContainsSubstring("_tf32_"));
                CHECK(parse_kernel_name(name).signature == problem.signature);
            }
}

TEST_CASE("tf32: configs that no kernel has") {
    const GemmSpec spec = tf32(GemmLayout::tn, 256, 256, 256);
    CHECK(broken_rules(spec, kConfig).empty());
    CHECK_THAT(broken_rules(spec, "block=128x128x48,warpgroup=64x128,stages=3"), Says("48", "32"));
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",promote=32"), Says("promote"));
    CHECK_THAT(broken_rules(spec, std::string(kConfig) + ",a_source=rmem"), Says("a_source", "f32"));
    GemmSpec pairs = spec;
    pairs.epilogue = "d[m,h] = left(acc) * right(acc)";
    CHECK_THAT(broken_rules(pairs, kConfig), Says("f32", "pairs", "16 bits"));
}

TEST_CASE("tf32: operands that TMA and tensor cores read as they lie have no copies") {
    CHECK(
        WgmmaWarpSpecialized::entries(problem_of(tf32(GemmLayout::tn, 300, 204, 1000)).signature, wgmma_config(kConfig))
            .size() == 1);
    const GemmSpec spec = resolved(tf32(GemmLayout::nt, 300, 204, 1001));
    const Problem problem = problem_of(spec);
    const std::vector<KernelEntry> entries = WgmmaWarpSpecialized::entries(problem.signature, wgmma_config(kConfig));
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].function == "gemm_pack");
    CHECK(block_count(entries[0].grid, spec) == 5 * 16 + 4 * 16);  // 64 by 64 elements for a block
    constexpr std::int64_t kCopyA = 300 * 1024 * 4, kCopyB = 204 * 1024 * 4;
    CHECK(packed_offset(ArgumentRole::packed_b, spec) == kCopyA);
    CHECK(WgmmaWarpSpecialized::workspace_bytes(problem, wgmma_config(kConfig)) == kCopyA + kCopyB);
}

TEST_CASE("tf32: maps of A and B round, and those of other operands don't") {
    GemmSpec spec = tf32(GemmLayout::tn, 300, 204, 1000);
    spec.c = DataType::f32;
    const std::string direct = main_of(spec, std::string(kConfig) + ",slices=2");
    CHECK_THAT(direct, ContainsSubstring("map_a, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, (CUdeviceptr)a, kK, kM, kLda"));
    CHECK_THAT(direct, ContainsSubstring("map_b, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32"));
    CHECK_THAT(direct, ContainsSubstring("map_d, CU_TENSOR_MAP_DATA_TYPE_FLOAT32"));
    spec.layout = GemmLayout::nt;
    spec.k = 1001;
    CHECK_THAT(main_of(spec, kConfig),
               ContainsSubstring("map_a, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, (CUdeviceptr)workspace, kK, kM,"));
}

TEST_CASE("tf32: tensor cores have half of the rate of f16") {
    GemmSpec spec = tf32(GemmLayout::tn, 4096, 4096, 4096);
    const double peak = roofline(spec, find_gpu("h200"), MathInstruction::wgmma).peak_flops;
    spec.a = spec.b = DataType::f16;
    spec.math = Math::ieee;
    CHECK(2 * peak == roofline(spec, find_gpu("h200"), MathInstruction::wgmma).peak_flops);
}
