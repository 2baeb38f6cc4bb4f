// Kernels of 8-bit integers: default types, limits of K, what serves them, what does not and why, names.

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "generator/layout/wgmma_atom.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

GemmSpec int8(std::int64_t m, std::int64_t n, std::int64_t k, DataType d = DataType::s32) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, DataType::s8);
    spec.accumulator = DataType::s32;
    spec.d = d;
    return spec;
}

const GpuModel& h200() { return find_gpu("h200"); }

std::string refusal(const GemmSpec& spec, const GpuModel& gpu = h200()) {
    try {
        static_cast<void>(choose_config(problem_of(spec), gpu));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kConfig = "block=128x128x128,warpgroup=64x128,stages=3";

}  // namespace

TEST_CASE("8-bit integers: a type alone makes a problem") {
    const GemmSpec spec = parse_gemm_spec("gemm-v1 m=64 n=64 k=64 a=s8 layout=tn");
    CHECK(spec.b == DataType::s8);
    CHECK(spec.accumulator == DataType::s32);
    CHECK(spec.d == DataType::s32);
    CHECK(!spec.c);
    CHECK(refusal(spec).empty());
}

TEST_CASE("8-bit integers: K is bounded, so that no sum overflows") {
    CHECK(problems(int8(64, 64, 131071)).empty());
    CHECK(131071LL * 128 * 128 <= 2147483647LL);
    CHECK(131072LL * 128 * 128 > 2147483647LL);
    CHECK_THAT(refusal(int8(64, 64, 131072)), Says("k is 131072", "131071", "s32"));
}

TEST_CASE("8-bit integers: rules of types") {
    GemmSpec spec = int8(64, 64, 64);
    for (const DataType d : {DataType::s32, DataType::s8, DataType::bf16, DataType::f16, DataType::f32}) {
        spec.d = d;
        CHECK(refusal(spec).empty());
    }
    spec.d = DataType::e4m3;
    CHECK_THAT(refusal(spec), Says("d is e4m3", "s8 inputs"));
    spec = int8(64, 64, 64);
    spec.accumulator = DataType::f32;
    CHECK_THAT(refusal(spec), Says("accumulator is f32", "s32"));
    spec = int8(64, 64, 64);
    spec.b = DataType::e4m3;
    CHECK_THAT(refusal(spec), Says("a is s8", "b is e4m3"));
    spec = int8(64, 64, 64);
    spec.c = DataType::f32;
    CHECK_THAT(refusal(spec), Says("c is f32", "d is s32"));
    spec.d = DataType::bf16;
    CHECK(refusal(spec).empty());
    spec.c = DataType::s32;
    CHECK_THAT(refusal(spec), Says("c is s32", "s8 inputs"));
    spec = int8(64, 64, 64);
    spec.sums = Summation::promoted;
    CHECK_THAT(refusal(spec), Says("sums is promoted", "s8"));
}

TEST_CASE("8-bit integers: the text d = acc says what an s32 D holds anyway") {
    GemmSpec spec = int8(64, 64, 64);
    spec.epilogue = "d = acc";
    CHECK(resolved(spec).epilogue.empty());
    spec.epilogue = "x = acc\nd = x";
    CHECK(resolved(spec).epilogue.empty());
    spec.epilogue = "d = 2 * acc";
    CHECK(!resolved(spec).epilogue.empty());
    spec.epilogue = "d = acc";
    spec.d = DataType::f32;
    CHECK(!resolved(spec).epilogue.empty());
}

TEST_CASE("8-bit integers: what no family serves is told with the rule") {
    GemmSpec spec = int8(64, 72, 64, DataType::s8);
    CHECK(family_name(choose_config(problem_of(spec), h200())) == "mma_multistage");
    spec = int8(64, 64, 64, DataType::bf16);
    spec.epilogue = "d[m,h] = silu(left(acc)) * right(acc)";
    CHECK(refusal(spec).empty());
    spec = int8(64, 64, 64);
    spec.epilogue = "d = acc + bias[n]";
    CHECK_THAT(refusal(spec), Says("bias", "s32", "f16, bf16 or f32"));
}

TEST_CASE("8-bit integers: no candidate breaks a rule, and each has an instruction") {
    for (const std::int64_t m : {1, 70, 4096})
        for (const DataType d : {DataType::s32, DataType::s8, DataType::bf16}) {
            const Problem problem = problem_of(int8(m, 4096, 7168, d));
            const auto candidates = WgmmaWarpSpecialized::candidates(problem, h200());
            REQUIRE(!candidates.empty());
            for (const WgmmaWarpSpecializedConfig& config : candidates) {
                INFO(parameters_text({config}));
                CHECK(WgmmaWarpSpecialized::violations(problem, config, *h200().arch).empty());
                CHECK(wgmma_form(DataType::s8, DataType::s8, DataType::s32, config.warpgroup.n));
            }
            const KernelConfig choice = choose_config(problem, h200());
            CHECK(parse_kernel_name(kernel_name(problem, choice)).config == choice);
            CHECK(parse_kernel_name(kernel_name(problem, choice)).signature == problem.signature);
        }
}

TEST_CASE("8-bit integers: a config of another width than instructions have breaks a rule") {
    CHECK(wgmma_violations(int8(256, 256, 256), kConfig).empty());
    CHECK(wgmma_violations(int8(256, 256, 256), "block=64x24x128,warpgroup=64x24,stages=3").empty());
    CHECK_THAT(wgmma_violations(int8(256, 256, 256), "block=128x72x128,warpgroup=64x72,stages=3"),
               Says("warpgroup_tile.n = 72", "16"));
    CHECK_THAT(wgmma_violations(int8(256, 256, 256), std::string(kConfig) + ",swap_ab=1"), Says("swap_ab", "s32"));
    CHECK_THAT(wgmma_violations(int8(256, 256, 256, DataType::s8), std::string(kConfig) + ",store=smem"),
               Says("store = smem", "s8"));
    CHECK_THAT(wgmma_violations(int8(256, 256, 256), std::string(kConfig) + ",promote=128"),
               Says("promote = 128", "0"));
}

TEST_CASE("8-bit integers: a dump says what it multiplies") {
    const KernelConfig config{wgmma_config(kConfig)};
    const GemmSpec spec = int8(256, 256, 256);
    CHECK(kernel_name(problem_of(spec), config) == "wgmma_s8_tn_d-s32_128x128x128_stages3_pdl0");
    CHECK_THAT(generate(problem_of(spec), config, find_arch("sm_90a")).body, ContainsSubstring("m64n128k32.s32.s8.s8"));
}
