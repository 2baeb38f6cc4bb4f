// Kernels of 8-bit floats: what serves them, what does not and why, names, choices.

#include "generator/base/matrix_storage.hpp"
#include "generator/families/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

GemmSpec float8(std::int64_t m, std::int64_t n, std::int64_t k, DataType a = DataType::e4m3,
                DataType b = DataType::e4m3) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, a);
    spec.b = b;
    return spec;
}

const GpuModel& h200() { return find_gpu("h200"); }

std::string refusal(const GemmSpec& spec, const GpuModel& gpu = h200()) {
    try {
        static_cast<void>(choose_config(problem_of(spec), gpu));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kPromoted = "block=128x128x128,warpgroup=64x128,stages=3,promote=128";
constexpr const char* kFast = "block=128x128x128,warpgroup=64x128,stages=3";

}  // namespace

TEST_CASE("8-bit floats: the choice promotes its sums unless the problem says fast") {
    for (const DataType a : {DataType::e4m3, DataType::e5m2})
        for (const DataType b : {DataType::e4m3, DataType::e5m2})
            for (const std::int64_t m : {1, 16, 128, 1000, 4096}) {
                GemmSpec spec = float8(m, 4096, 7168, a, b);
                INFO(to_string(spec));
                const Problem problem = problem_of(spec);
                const KernelConfig promoted = choose_config(problem, h200());
                CHECK(promoted.as<WgmmaWarpSpecializedConfig>().promote == 128);
                CHECK(parse_kernel_name(kernel_name(problem, promoted)).config == promoted);
                spec.sums = Summation::fast;
                const KernelConfig fast = choose_config(problem_of(spec), h200());
                CHECK(fast.as<WgmmaWarpSpecializedConfig>().promote == 0);
                CHECK_THAT(kernel_name(problem_of(spec), fast), !ContainsSubstring("promote"));
            }
}

TEST_CASE("8-bit floats: no candidate breaks a rule, and sums have registers") {
    for (const std::int64_t m : {1, 70, 4096})
        for (const Summation sums : {Summation::fast, Summation::promoted}) {
            GemmSpec spec = float8(m, 4096, 7168);
            spec.sums = sums;
            const Problem problem = problem_of(spec);
            const auto candidates = WgmmaWarpSpecialized::candidates(problem, h200());
            REQUIRE(!candidates.empty());
            for (const WgmmaWarpSpecializedConfig& config : candidates) {
                const std::vector<std::string> reasons =
                    WgmmaWarpSpecialized::violations(problem, config, *h200().arch);
                INFO(parameters_text({config}));
                CHECK(reasons.empty());
                const WgmmaGeometry g = geometry(problem.signature, config);
                CHECK(config.warpgroup.n % g.wave_n == 0);
                CHECK(g.accumulator_registers + g.partial_registers < g.consumer_registers);
            }
        }
}

TEST_CASE("8-bit floats: what no family serves is told with the rule") {
    GemmSpec spec = float8(64, 64, 64);
    CHECK(refusal(spec).empty());
    for (const GemmLayout layout : kLayouts)
        for (const std::int64_t k : {1, 64, 75}) {
            spec.layout = layout;
            spec.k = k;
            CHECK(refusal(spec).empty());
        }
    spec = float8(64, 64, 64);
    spec.d_order = Order::column;
    CHECK(refusal(spec).empty());
    spec.accumulator = DataType::f16;
    CHECK_THAT(refusal(spec), Says("f16", "accumulator", "e4m3"));
    CHECK_THAT(refusal(float8(64, 64, 64), find_gpu("a100")), Says("sm_90a", "e4m3"));
    spec = float8(64, 64, 64);
    spec.d = DataType::e4m3;
    CHECK(refusal(spec).empty());
    spec.n = 72;
    CHECK(refusal(spec).empty());
    const Family& wgmma = family_of(KernelConfig{wgmma_config(kPromoted)});
    CHECK_THAT(fmt::format("{}", fmt::join(wgmma.unsupported(problem_of(spec), *h200().arch), "; ")),
               Says("a row of D has 72 elements", "e4m3", "multiples of 16"));
    spec = float8(64, 64, 64);
    spec.epilogue = "d[m,h] = silu(left(acc)) * right(acc)";
    CHECK(refusal(spec).empty());
    spec.n = 72;
    CHECK_THAT(refusal(spec), Says("72", "pairs", "multiple of 16"));
}

TEST_CASE("8-bit floats: an operand whose K is not contiguous is transposed, and the copy described") {
    GemmSpec spec = float8(100, 72, 208, DataType::e4m3, DataType::e5m2);
    const KernelConfig config{wgmma_config(kPromoted)};
    const auto workspace = [&] {
        return WgmmaWarpSpecialized::workspace_bytes(problem_of(spec), wgmma_config(kPromoted));
    };
    CHECK(workspace() == 0);
    spec.layout = GemmLayout::nn;  // A lies by columns
    CHECK(workspace() == 100 * 256);
    spec.layout = GemmLayout::tt;  // B lies by rows
    CHECK(workspace() == 72 * 256);
    spec.layout = GemmLayout::nt;
    CHECK(workspace() == (100 + 72) * 256);
    const Problem problem = problem_of(spec);
    const auto entries = WgmmaWarpSpecialized::entries(problem.signature, config.as<WgmmaWarpSpecializedConfig>());
    REQUIRE(entries.size() == 2);
    CHECK(entries.front().function == "gemm_pack");
    for (const KernelArgument& argument : entries.back().arguments) {
        const auto* const map = std::get_if<TensorMapArgument>(&argument);
        if (map == nullptr || !map->role.is_packed) continue;
        const auto dimensions = named_dimensions(*map, storage_of(map->role, problem.row_major()));
        CHECK(dimensions.at(0).extent == ArgumentRole::k);
        CHECK(dimensions.at(1).extent == (map->role.name == "a" ? ArgumentRole::m : ArgumentRole::n));
        CHECK(extent(dimensions.at(1).pitch, problem) == 256);
    }
    const KernelAnatomy anatomy = family_of(config).anatomy(problem, config);
    CHECK((anatomy.packs_a && anatomy.packs_b));
    CHECK((anatomy.operands.at(0).k_major && anatomy.operands.at(1).k_major));
    CHECK_THAT(anatomy.operands.at(0).copy, ContainsSubstring("transposed"));
}

TEST_CASE("8-bit floats: a transposition costs the bytes that it moves") {
    const WgmmaCosts costs = WgmmaCosts::of(h200());
    const auto config = wgmma_config(kPromoted);
    const auto us = [&](const GemmSpec& spec) {
        return WgmmaWarpSpecialized::cost(problem_of(spec), config, h200(), costs).total_us;
    };
    GemmSpec spec = float8(8192, 8192, 8192);
    const double plain = us(spec);
    spec.layout = GemmLayout::tt;
    const double of_b = us(spec) - plain;
    spec.layout = GemmLayout::nt;
    const double of_both = us(spec) - plain;
    const double least = 2.0 * 8192 * 8192 / h200().dram_bytes_per_second * 1e6;
    CHECK(of_b > least);
    CHECK(of_b < 3 * least);
    CHECK(of_both > 2 * least);
    CHECK(of_both < 6 * least);
}

TEST_CASE("8-bit floats: a config that does not fit its sums breaks a rule") {
    const GemmSpec promoted = float8(256, 256, 256);
    GemmSpec fast = promoted;
    fast.sums = Summation::fast;
    CHECK(wgmma_violations(promoted, kPromoted).empty());
    CHECK(wgmma_violations(fast, kFast).empty());
    CHECK_THAT(wgmma_violations(promoted, kFast), Says("promote = 0", "e4m3", "sums=promoted", "must be 128"));
    CHECK_THAT(wgmma_violations(fast, kPromoted), Says("promote = 128", "sums=fast"));
    CHECK_THAT(wgmma_violations(square(256), "block=128x128x64,warpgroup=64x128,stages=3,promote=128"),
               Says("promote = 128", "sums of bf16", "must be 0"));
    CHECK_THAT(wgmma_violations(promoted, "block=128x128x128,warpgroup=64x128,stages=3,promote=64"),
               Says("promote = 64", "sums=promoted", "must be 128"));
    CHECK_THAT(wgmma_violations(promoted, "block=256x128x128,warpgroup=128x128,schedule=overlapped,promote=128"),
               Says("promote = 128", "overlapped"));
    CHECK_THAT(wgmma_violations(promoted, "block=256x200x128,warpgroup=128x200,stages=2,promote=128"),
               Says("200 accumulators", "partial sums"));
    CHECK_THAT(wgmma_violations(fast, std::string(kFast) + ",a_source=rmem"), Says("a_source = rmem", "e4m3"));
    CHECK_THAT(wgmma_violations(fast, std::string(kFast) + ",persistent=0"), Says("persistent = 0", "e4m3"));
    fast.d = DataType::e5m2;
    CHECK(wgmma_violations(fast, kFast).empty());
    CHECK_THAT(wgmma_violations(fast, std::string(kFast) + ",store=smem"), Says("store = smem", "e5m2"));
    CHECK_THAT(wgmma_violations(fast, "block=128x72x128,warpgroup=64x72,stages=3"),
               Says("warpgroup_tile.n = 72", "16"));
}

TEST_CASE("8-bit floats: a dump says what it multiplies") {
    const GemmSpec spec = float8(256, 256, 256, DataType::e4m3, DataType::e5m2);
    const KernelConfig config{wgmma_config(kPromoted)};
    const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"));
    CHECK_THAT(source.body, ContainsSubstring("m64n128k32.f32.e4m3.e5m2"));
    CHECK(kernel_name(problem_of(spec), config) == "wgmma_e4m3_b-e5m2_tn_d-bf16_128x128x128_stages3_promote128_pdl0");
    GemmSpec turned = spec;  // D^T is the product of the operands turned around
    turned.d_order = Order::column;
    CHECK_THAT(generate(problem_of(turned), config, find_arch("sm_90a")).body,
               ContainsSubstring("m64n128k32.f32.e5m2.e4m3"));
}
