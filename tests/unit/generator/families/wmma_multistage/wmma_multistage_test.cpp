#include "generator/families/kernel_name.hpp"
#include "generator/families/wmma_multistage/family.hpp"
#include "generator/families/wmma_multistage/geometry.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_spec.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wmma_steps.hpp"

#include <map>
#include <random>
#include <set>
#include <tuple>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

GemmSpec f16_spec(std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = sized(m, n, k);
    spec.a = spec.b = spec.d = spec.accumulator = DataType::f16;
    return resolved(spec);
}

WmmaMultistageConfig config_with(const std::string& parameters) {
    return std::get<WmmaMultistageConfig>(
        with_parameters({WmmaMultistageConfig{}}, parse_parameters(parameters)).family);
}

std::vector<std::string> violations(const GemmSpec& spec, const std::string& parameters) {
    return WmmaMultistage::violations(problem_of(spec), {config_with(parameters)}, find_arch("sm_80"));
}

WmmaMultistageConfig random_config(std::mt19937& random) {
    WmmaMultistageConfig c;
    c.block = {pick(random, {32, 64, 128, 256}), pick(random, {32, 64, 128, 256}), pick(random, {16, 32, 64})};
    c.warp = {pick(random, {16, 32, 64}), pick(random, {16, 32, 64}), c.block.k};
    c.mma = pick(random, {TileShape{16, 16, 16}, TileShape{32, 8, 16}, TileShape{8, 32, 16}});
    c.stages = pick(random, {1, 2, 3, 4, 8});
    c.padding = pick(random, {0, 8, 16, 64});
    c.async = random() % 2 == 0;
    c.cache = pick(random, {CopyCache::ca, CopyCache::cg});
    c.l2_prefetch = pick(random, {0, 64, 128, 256});
    c.double_buffer = random() % 2 == 0;
    c.rasterization = pick(random, {Rasterization::row, Rasterization::column, Rasterization::grouped_m,
                                    Rasterization::grouped_n, Rasterization::zigzag});
    c.group = pick(random, {1, 2, 8, 16, 1024});
    return c;
}

/// Kernels of this family only.
Selection only_wmma() {
    Selection selection;
    selection.family = "wmma_multistage";
    return selection;
}

}  // namespace

TEST_CASE("wmma_multistage: names and parameters round trip") {
    std::mt19937 random(20240701);
    GemmSignature signature;
    signature.align_a = signature.align_b = 2;
    for (int i = 0; i < 500; ++i) {
        const KernelId id{signature, {random_config(random)}};
        const std::string name = kernel_name(id);
        INFO(name);
        CHECK(name.size() <= 200);
        CHECK(parse_kernel_name(name) == id);
        CHECK(with_parameters({WmmaMultistageConfig{}}, parameters_of(id.config)) == id.config);
    }
}

TEST_CASE("wmma_multistage: the defaults are the well-known set, and have that name") {
    const GemmSpec spec = f16_spec(4096, 4096, 4096);
    const KernelConfig config{WmmaMultistageConfig{}};
    CHECK(kernel_name(problem_of(spec), config) == "wmma_multistage_f16_tn_accf16_256x128x32_warp64x64_stages3");
    CHECK(violations(spec, "").empty());
    const TensorCoreGeometry g = geometry(problem_of(spec).signature, WmmaMultistageConfig{});
    CHECK(g.threads == 8 * 32);
    CHECK(g.pipeline_bytes == 3 * (256 + 128) * (32 + 8) * 2);
}

TEST_CASE("wmma_multistage: bad names and parameters are refused, the nearest is offered") {
    CHECK_THROWS_WITH(config_with("paddin=8"),
                      Says("wmma_multistage", "has no parameter", "'paddin'") && ContainsSubstring("padding"));
    CHECK_THROWS_WITH(config_with("cache=cx"), Says("'cx'", "ca", "cg"));
    CHECK_THROWS_WITH(config_with("async=2"), Says("'2'", "0", "1", "false"));
    const std::string name = kernel_name(problem_of(f16_spec(64, 64, 64)), {WmmaMultistageConfig{}});
    for (const auto& [wrong, expected] : {std::pair{"_cache-cx", "ca or cg"}, std::pair{"_raster-zagzig", "raster-"},
                                          std::pair{"_skew8", "[pad<a number up to 65536>]"}})
        CHECK_THROWS_WITH(parse_kernel_name(name + wrong), ContainsSubstring(expected));
}

TEST_CASE("wmma_multistage: a rasterization brings the group it needs") {
    CHECK(config_with("rasterization=row").group == 1);
    CHECK(config_with("rasterization=row").rasterization == Rasterization::row);
    const KernelConfig row{config_with("rasterization=row")};
    CHECK(with_parameters(row, parse_parameters("rasterization=zigzag")) == KernelConfig{WmmaMultistageConfig{}});
    CHECK(config_with("rasterization=zigzag,group=4").group == 4);
}

TEST_CASE("wmma_multistage: it is chosen only by name") {
    for (const Candidate& candidate : list_candidates(problem_of(f16_spec(512, 512, 512)), find_gpu("h200")).accepted)
        CHECK(family_name(candidate.config) != "wmma_multistage");
    CHECK_FALSE(list_candidates(problem_of(f16_spec(512, 512, 512)), find_gpu("h200"), only_wmma()).accepted.empty());
}

TEST_CASE("wmma_multistage: every rule that a config breaks is named with its numbers") {
    const GemmSpec spec = f16_spec(512, 512, 512);
    const auto breaks = [&](const std::string& parameters, const std::string& reason) {
        INFO(parameters);
        const std::vector<std::string> reasons = violations(spec, parameters);
        REQUIRE_FALSE(reasons.empty());
        std::string all;
        for (const std::string& one : reasons) all += one + '\n';
        CHECK_THAT(all, ContainsSubstring(reason));
    };
    breaks("block=200x128x32", "block_tile.m = 200 is not a positive multiple of warp_tile.m = 64");
    breaks("block=256x100x32", "block_tile.n = 100 is not a positive multiple of warp_tile.n = 64");
    breaks("block=256x128x24", "block_tile.k = 24 is not a positive multiple of mma_shape.k = 16");
    breaks("block=240x128x32,warp=24x64", "warp_tile.m = 24 is not a positive multiple of mma_shape.m = 16");
    breaks("block=256x120x32,warp=64x24", "warp_tile.n = 24 is not a positive multiple of mma_shape.n = 16");
    breaks("mma=16x8x16", "no wmma of shape 16x8x16 for f16 x f16 with f16 accumulators");
    breaks("block=256x256x32,warp=16x16", "16 x 16 = 256 warps per block, outside 1 to 32");
    breaks("stages=0", "stages = 0 is outside 1 to 8");
    breaks("stages=9", "stages = 9 is outside 1 to 8");
    breaks("block=256x128x48", "double_buffer across stages needs an even number of k-blocks");
    breaks("l2_prefetch=32", "l2_prefetch = 32 is none of 0, 64, 128 and 256 bytes");
    breaks("padding=4", "padding = 4 is no multiple of 8 from 0 to 64");
    breaks("padding=72", "padding = 72 is no multiple of 8 from 0 to 64");
}

TEST_CASE("wmma_multistage: rules that need more than one parameter") {
    const GemmSpec spec = f16_spec(512, 512, 512);
    const auto first = [&](const GemmSpec& problem, const std::string& parameters) {
        const std::vector<std::string> reasons = violations(problem, parameters);
        return reasons.empty() ? std::string() : reasons.front();
    };
    CHECK_THAT(first(spec, "block=192x64x80,warp=64x64,double_buffer=0"), Says("A", "96", "threads", "10", "16"));
    CHECK_THAT(first(spec, "group=2000"), Says("group = 2000", "outside", "1", "1024"));
    CHECK_THAT(first(spec, "rasterization=row,group=2"), ContainsSubstring("have no groups"));
    CHECK_THAT(first(spec, "stages=8"), ContainsSubstring("bytes of shared memory"));
    CHECK_THAT(first(spec, "block=256x128x32,warp=128x128"), ContainsSubstring("registers per thread"));
    GemmSpec f32 = spec;
    f32.accumulator = DataType::f32;
    CHECK_THAT(first(f32, "block=512x256x32,stages=2"), Says("exceed", "65536"));
    CHECK(violations(spec, "block=256x128x16,stages=1").empty());
    GemmSpec wide = f16_spec(2'000'000'000, 2'000'000'000, 8);
    CHECK_THAT(first(wide, ""), ContainsSubstring("blocks exceed the grid's"));
}

TEST_CASE("wmma_multistage: types and architectures it does not serve") {
    Problem mixed = problem_of(sized(64, 64, 64));
    GemmSpec spec = mixed.asked;
    spec.a = DataType::f16;
    mixed.set_row_major(spec);  // a spec of two types would be refused before any family is asked
    CHECK_THAT(WmmaMultistage::unsupported(mixed, find_arch("sm_80")).front(),
               Says("wmma_multistage", "multiplies", "f16", "bf16"));
}

TEST_CASE("wmma_multistage: alignment and async decide how operands are copied") {
    for (const auto& [ld, bytes, async, shifted] :
         {std::tuple{1024, 16, true, false}, std::tuple{1028, 8, true, false}, std::tuple{1026, 4, true, false},
          std::tuple{1025, 16, false, true}}) {
        GemmSpec spec = sized(512, 512, 1024);
        spec.lda = ld;
        const TensorCoreGeometry g = geometry(problem_of(spec).signature, WmmaMultistageConfig{});
        CHECK(g.a.vector_bytes == bytes);
        CHECK(g.a.async == async);
        CHECK(g.a.shifted == shifted);
        const TensorCoreGeometry through_registers = geometry(problem_of(spec).signature, config_with("async=0"));
        CHECK_FALSE(through_registers.a.async);
        CHECK(through_registers.a.shifted == (ld != 1024));
        CHECK_FALSE(through_registers.b.shifted);
    }
}

TEST_CASE("wmma_multistage: candidates serve every layout, alignment and type, without parameters") {
    for (const GemmLayout layout : kLayouts)
        for (const std::int64_t size : {1, 130, 132, 136, 1000, 1001})
            for (const char* gpu : {"h200", "a100", "rtx4090"}) {
                GemmSpec spec = sized(size, size, size);
                spec.layout = layout;
                CHECK_NOTHROW(choose_config(problem_of(spec), find_gpu(gpu), only_wmma()));
                spec.c = DataType::f32;
                spec.d = DataType::f32;
                CHECK_NOTHROW(choose_config(problem_of(spec), find_gpu(gpu), only_wmma()));
            }
}

TEST_CASE("wmma_multistage: the owner of an element is its block and warp") {
    const GemmSpec spec = f16_spec(300, 200, 64);
    const WmmaMultistageConfig config = config_with("block=64x32x32,warp=32x16,rasterization=zigzag,group=3");
    std::map<std::pair<std::int64_t, int>, int> elements;
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
            const ElementOwner owner = WmmaMultistage::owner(problem_of(spec), config, row, column);
            REQUIRE(owner.lane == ElementOwner::kUnknown);
            REQUIRE(owner.block < block_count({64, 32, 1}, spec.m, spec.n));
            REQUIRE(owner.warp < 4);
            ++elements[{owner.block, owner.warp}];
        }
    for (const auto& [owner, count] : elements) CHECK(count <= 32 * 16);
    CHECK(WmmaMultistage::owner(problem_of(spec), config, 33, 17).warp == 3);
}

TEST_CASE("wmma_multistage: each ladder step changes the text, and leaves no macro in it") {
    const GemmSpec spec = f16_spec(4096, 4096, 4096);
    std::set<std::string> bodies;
    for (const WmmaStep& step : kWmmaSteps) {
        INFO(step.name);
        const KernelSource source =
            generate(problem_of(spec), {config_with(std::string(step.parameters))}, find_arch("sm_90a"));
        CHECK(bodies.insert(source.body).second);
        CHECK(source.body.find("GEMM_") == std::string::npos);
        CHECK(source.body.find("#include") == std::string::npos);
        CHECK((source.body.find("cp.async") != std::string::npos) ==
              (step.parameters.find("async=true") != std::string::npos));
    }
}
