#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/simt_long_k/accesses.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/simt_long_k_checks.hpp"
#include "tests/support/specs.hpp"

#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <tuple>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

GemmSpec long_k_spec(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    return resolved(spec_of(layout, m, n, k, DataType::f32));
}

KernelConfig long_k_with(std::string_view parameters) {
    return with_parameters({SimtLongKConfig{}}, parse_parameters(parameters));
}

std::string long_k_violations(const GemmSpec& spec, std::string_view parameters) {
    std::string text;
    for (const std::string& reason :
         find_family("simt_long_k").violations(problem_of(spec), long_k_with(parameters), find_arch("sm_90a")))
        text += reason + "\n";
    return text;
}

/// Problems of a seed: m and n evenly from 1 to 64, K from 10^5 to 10^7 evenly in its logarithm, the layouts in turn.
std::vector<std::string> drawn_problems(std::uint64_t seed, int count) {
    std::mt19937_64 bits(seed);
    std::vector<std::string> lines;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t m = 1 + bits() % 64;
        const std::uint64_t n = 1 + bits() % 64;
        const double exponent = 5 + 2 * (static_cast<double>(bits() >> 11) * 0x1p-53);
        lines.push_back("f32 " + std::string(to_string(kLayouts[static_cast<std::size_t>(i) % kLayouts.size()])) + " " +
                        std::to_string(m) + " " + std::to_string(n) + " " +
                        std::to_string(std::llround(std::pow(10.0, exponent))));
    }
    return lines;
}

}  // namespace

TEST_CASE("simt_long_k: bench/long_k_f32.txt holds the 20 problems of seed 13") {
    std::ifstream file(std::string(JITGEMM_SOURCE_DIR) + "/bench/long_k_f32.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    CHECK(lines == drawn_problems(13, 20));
}

TEST_CASE("simt_long_k: names and parameters say everything") {
    for (const std::string_view variant : kLongKVariants) {
        const KernelId id{problem_of(long_k_spec(GemmLayout::nt, 37, 64, 100000)).signature, long_k_with(variant)};
        const std::string name = kernel_name(id);
        INFO(name);
        CHECK(name.size() <= 200);
        CHECK(parse_kernel_name(name) == id);
        CHECK(with_parameters({SimtLongKConfig{}}, parameters_of(id.config)) == id.config);
    }
}

TEST_CASE("simt_long_k: what a config breaks is said with its numbers") {
    const GemmSpec spec = long_k_spec(GemmLayout::tn, 64, 64, 100001);
    CHECK(long_k_violations(spec, "").empty());
    CHECK_THAT(long_k_violations(spec, "lanes=4x8x2"), Says("lanes = 4x8x2", "32", "powers"));
    CHECK_THAT(long_k_violations(spec, "lanes=0x8x4"), ContainsSubstring("lanes = 0x8x4 are not 32"));
    CHECK_THAT(long_k_violations(spec, "thread=17x1"), Says("thread_tile.m = 17", "1", "outside", "16"));
    CHECK_THAT(long_k_violations(spec, "thread=16x16"), Says("sums", "256", "outside", "1", "128"));
    CHECK_THAT(long_k_violations(spec, "block_k=100"), Says("block_k = 100", "multiple", "K"));
    CHECK_THAT(long_k_violations(spec, "stages=1"), Says("stages = 1", "outside", "2", "16"));
    CHECK_THAT(long_k_violations(spec, "split_k=0"), Says("split_k = 0", "outside", "1", "1024"));
    CHECK_THAT(long_k_violations(spec, "thread=16x8,lanes=1x1x32,warps=1"), Says("A", "64", "copies", "32"));
    CHECK_THAT(long_k_violations(spec, "stages=8,block_k=256"), Says("shared memory", "sm_90a", "232448"));
    CHECK_THAT(long_k_violations(spec, "min_blocks_per_sm=4"), ContainsSubstring("resident blocks exceed"));
    GemmSpec half = spec;
    half.a = half.b = DataType::f16;
    half.align_a = half.align_b = 0;
    CHECK_THAT(long_k_violations(half, ""), Says("simt_long_k", "copies", "f32", "f16"));
}

TEST_CASE("simt_long_k: tiles that begin where others end are copied in vectors that fit there") {
    const GemmSpec spec = long_k_spec(GemmLayout::nt, 12, 20, 20000);  // rows of both are aligned to 16 bytes
    for (const auto& [parameters, vector_a, vector_b] :
         {std::tuple{"thread=3x5,lanes=1x1x32,block_k=1024", 1, 1}, {"thread=3x5,lanes=2x4x4", 2, 4}}) {
        const SimtLongKGeometry g =
            geometry(problem_of(spec).signature, std::get<SimtLongKConfig>(long_k_with(parameters).family));
        CHECK(g.a.vector == vector_a);
        CHECK(g.b.vector == vector_b);
    }
}

TEST_CASE("simt_long_k: a parameter out of range is refused, not computed with") {
    const GemmSpec spec = long_k_spec(GemmLayout::tn, 8, 8, 100000);
    for (const char* fixed :
         {"min_blocks_per_sm=0", "warps=0", "split_k=0", "thread=0x0", "lanes=65536x65536x0", "block_k=0"})
        CHECK_THROWS_AS(choose_config(problem_of(spec), find_gpu("h200"),
                                      {.kernel = {}, .family = "simt_long_k", .parameters = parse_parameters(fixed)}),
                        ConfigError);
}

TEST_CASE("simt_long_k: lanes cover a warp's places once, and every element of D has one owner") {
    for (const std::string_view variant : kLongKVariants)
        for (const GemmLayout layout : kLayouts) {
            const GemmSpec spec = long_k_spec(layout, 61, 50, 20000);
            const KernelConfig config = long_k_with(variant);
            const auto& c = std::get<SimtLongKConfig>(config.family);
            std::set<std::array<int, 3>> places;
            for (int lane = 0; lane < 32; ++lane) {
                const LongKLane place = long_k_lane(c, lane);
                CHECK((place.m < c.lanes.m && place.n < c.lanes.n && place.k < c.lanes.k));
                places.insert({place.m, place.n, place.k});
            }
            CHECK(places.size() == 32);
            std::set<std::array<std::int64_t, 3>> owners;
            for (std::int64_t row = 0; row < spec.m; ++row)
                for (std::int64_t column = 0; column < spec.n; ++column) {
                    const ElementOwner owner = find_family("simt_long_k").owner(problem_of(spec), config, row, column);
                    CHECK(owner.accumulator_register < c.thread.m * c.thread.n);
                    owners.insert({owner.block, owner.lane, owner.accumulator_register});
                }
            CHECK(owners.size() == static_cast<std::size_t>(spec.m * spec.n));
        }
}

TEST_CASE("simt_long_k: where both operands' rows hold k, fragments meet no bank twice") {
    for (const std::string_view variant : kLongKVariants) {
        const auto c = std::get<SimtLongKConfig>(long_k_with(variant).family);
        const SimtLongKGeometry g = geometry(problem_of(long_k_spec(GemmLayout::tn, 64, 64, 100001)).signature, c);
        for (const Operand operand : {Operand::a, Operand::b}) {
            const SharedAccess access = long_k_fragment(operand, c, g);
            INFO(variant << ": " << access.what);
            CHECK(access.wavefronts == access.ideal);
        }
    }
}

TEST_CASE("simt_long_k: chosen unasked for a small result of a long K, with K shared out over all SMs") {
    const GpuModel& gpu = find_gpu("h200");
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] : {Sizes{1, 1, 1000000}, {64, 64, 100000}, {3, 60, 1000001}, {37, 53, 10000000}}) {
            const GemmSpec spec = long_k_spec(layout, m, n, k);
            INFO(to_string(spec));
            const KernelConfig config = choose_config(problem_of(spec), gpu, {});
            REQUIRE(std::holds_alternative<SimtLongKConfig>(config.family));
            CHECK(std::get<SimtLongKConfig>(config.family).split_k >= 100);
        }
    const auto family_of_choice = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
        return family_name(choose_config(problem_of(long_k_spec(GemmLayout::tn, m, n, k)), gpu, {}));
    };
    CHECK(family_of_choice(64, 64, 4096) == "simt_hierarchical");
    CHECK(family_of_choice(158, 63, 31302) == "simt_long_k");
    CHECK(family_of_choice(500, 500, 1000000) == "simt_hierarchical");
}
