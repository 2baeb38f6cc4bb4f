#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/simt_hierarchical/geometry.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/simt_hierarchical_checks.hpp"
#include "tests/support/specs.hpp"

#include <array>
#include <set>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

GemmSpec f32(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    return resolved(spec_of(layout, m, n, k, DataType::f32));
}

KernelConfig config_with(std::string_view parameters) {
    return with_parameters({SimtHierarchicalConfig{}}, parse_parameters(parameters));
}

std::string violations(const GemmSpec& spec, std::string_view parameters) {
    std::string text;
    for (const std::string& reason :
         find_family("simt_hierarchical").violations(problem_of(spec), config_with(parameters), find_arch("sm_90a")))
        text += reason + "\n";
    return text;
}

}  // namespace

TEST_CASE("simt_hierarchical: names and parameters say everything") {
    for (const std::string_view variant : kHierarchicalVariants) {
        const KernelId id{problem_of(f32(GemmLayout::nt, 640, 640, 640)).signature, config_with(variant)};
        const std::string name = kernel_name(id);
        INFO(name);
        CHECK(name.size() <= 200);
        CHECK((name.find("_wave") != name.npos) == (variant.find("wave") != variant.npos));
        CHECK(parse_kernel_name(name) == id);
        CHECK(with_parameters({SimtHierarchicalConfig{}}, parameters_of(id.config)) == id.config);
    }
}

TEST_CASE("simt_hierarchical: the longest name has 200 letters at most, and says what is read differently") {
    GemmSpec spec = spec_of(GemmLayout::tn, 4000, 4000, 4000, DataType::bf16);
    spec.c = DataType::bf16;
    spec.d = DataType::f32;
    const KernelId id{problem_of(spec).signature,
                      config_with("block=256x128x16,stages=2,copy=reg,order=right,copy_slices=14,predicated=0,"
                                  "rasterization=grouped_m,group=8,blocks_per_wave=132")};
    const std::string name = kernel_name(id);
    INFO(name);
    CHECK(name.size() <= 200);
    CHECK(parse_kernel_name(name) == id);
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string changed = name;
        return changed.replace(changed.find(from), from.size(), to);
    };
    CHECK_THROWS_WITH(parse_kernel_name(with("_wave132", "_wave0")), ContainsSubstring("wave0"));
    CHECK_THROWS_WITH(parse_kernel_name(with("_wave132", "_waveX")), ContainsSubstring("waveX"));
    CHECK_THROWS_WITH(parse_kernel_name(with("_wave132", "_whale132")), ContainsSubstring("whale132"));
}

TEST_CASE("simt_hierarchical: what a config breaks is said with its numbers") {
    const GemmSpec spec = f32(GemmLayout::tn, 512, 512, 512);
    CHECK(violations(spec, "").empty());
    CHECK_THAT(violations(spec, "block=100x128x16"), Says("block_tile.m = 100", "multiple", "warp_tile.m = 64"));
    CHECK_THAT(violations(spec, "thread=16x6"), Says("thread_tile.n = 6", "multiple", "quad", "4"));
    CHECK_THAT(violations(spec, "warp=64x32"), ContainsSubstring("gives 4 x 4 lanes"));
    CHECK_THAT(violations(spec, "stages=1"), Says("stages = 1", "outside", "2", "8"));
    CHECK_THAT(violations(spec, "copy_slices=16"), Says("copy_slices = 16", "1", "outside", "15"));
    CHECK_THAT(violations(spec, "k_lanes=5"), Says("k_lanes = 5", "neither", "4", "8"));
    CHECK_THAT(violations(spec, "min_blocks_per_sm=2"), Says("2", "exceed", "65536"));
    CHECK_THAT(violations(spec, "block=256x128x64,stages=4,k_lanes=8"), Says("shared memory", "sm_90a", "232448"));
    CHECK(violations(spec, "predicated=0").empty());
    CHECK_THAT(violations(f32(GemmLayout::tn, 512, 500, 520), "predicated=0"),
               Says("predicated = 0", "n = 500", "multiple", "128") && ContainsSubstring("k = 520 unchecked") &&
                   !ContainsSubstring("m = 512 unchecked"));
    CHECK(violations(f32(GemmLayout::tn, 4096, 4096, 4096), "blocks_per_wave=132").empty());
    CHECK_THAT(violations(spec, "blocks_per_wave=2"), Says("blocks_per_wave = 2", "8", "tiles"));
    CHECK_THAT(violations(spec, "blocks_per_wave=3,split_k=2"), Says("blocks_per_wave = 3", "split_k = 2", "K"));
    CHECK_THAT(violations(spec, "blocks_per_wave=5000"), Says("blocks_per_wave = 5000", "0", "outside", "4096"));
    GemmSpec half = spec;
    half.d = DataType::f16;
    CHECK_THAT(violations(half, "blocks_per_wave=3"), Says("D", "f32", "not", "f16"));
    half = spec;
    half.a = half.b = DataType::f16;
    CHECK_THAT(violations(half, ""), Says("copy = async", "f16", "convert"));
    CHECK_THAT(violations(spec, "store=smem,split_k=2"), Says("store = smem", "D", "split_k = 2"));
    CHECK_THROWS_WITH(config_with("slice=4"),
                      Says("simt_hierarchical", "has no parameter", "'slice'") && ContainsSubstring("slices"));
    CHECK_THROWS_WITH(config_with("copy=asink"), Says("'asink'", "async", "reg"));
    CHECK_THROWS_WITH(config_with("order=rite"), Says("'rite'", "left", "even"));
}

TEST_CASE("simt_hierarchical: lanes cover a warp tile's quads once, and pairs of them share addresses") {
    for (const std::string_view variant : kHierarchicalVariants) {
        const auto config = std::get<SimtHierarchicalConfig>(config_with(variant).family);
        const SimtHierarchicalGeometry g = geometry(problem_of(f32(GemmLayout::tn, 64, 64, 64)).signature, config);
        std::set<std::pair<int, int>> quads;
        for (int lane = 0; lane < 32; ++lane) {
            quads.emplace(lane_quad(g, lane).m, lane_quad(g, lane).n);
            CHECK(lane_quad(g, lane).n == lane_quad(g, lane ^ 1).n);
            if (g.lanes_n > 1) CHECK(lane_quad(g, lane).m == lane_quad(g, lane ^ 2).m);
        }
        CHECK(quads.size() == 32);
        CHECK(quads.rbegin()->first == g.lanes_m - 1);
    }
}

TEST_CASE("simt_hierarchical: every element of D has one owner") {
    const GemmSpec spec = f32(GemmLayout::tt, 130, 70, 16);
    for (const std::string_view variant : kHierarchicalVariants) {
        const KernelConfig config = config_with(variant);
        std::set<std::array<std::int64_t, 4>> owners;
        for (std::int64_t row = 0; row < spec.m; ++row)
            for (std::int64_t column = 0; column < spec.n; ++column) {
                const ElementOwner owner =
                    find_family("simt_hierarchical").owner(problem_of(spec), config, row, column);
                owners.insert({owner.block, owner.warp, owner.lane, owner.accumulator_register});
            }
        CHECK(owners.size() == static_cast<std::size_t>(spec.m * spec.n));
    }
}

TEST_CASE("simt_hierarchical: unaligned rows of D go through shared memory where K is short, but not partial sums") {
    const auto store_of = [](std::int64_t n, std::int64_t k, std::string_view parameters) {
        const Selection selection{
            .kernel = {}, .family = "simt_hierarchical", .parameters = parse_parameters(parameters)};
        const GemmSpec spec = f32(GemmLayout::nt, 250, n, k);
        return std::get<SimtHierarchicalConfig>(choose_config(problem_of(spec), find_gpu("h200"), selection).family)
            .store;
    };
    CHECK(store_of(3441, 25, "") == EpilogueStore::shared);
    CHECK(store_of(3441, 25, "store=reg") == EpilogueStore::registers);
    CHECK(store_of(3441, 25, "split_k=2") == EpilogueStore::registers);
    CHECK(store_of(3441, 1000, "") == EpilogueStore::registers);
    CHECK(store_of(3444, 25, "") == EpilogueStore::registers);
}

TEST_CASE("simt_hierarchical: tiles left over from whole waves are cut where that saves more than it costs") {
    const auto chosen = [](std::int64_t size, const char* gpu) {
        const GemmSpec spec = f32(GemmLayout::tn, size, size, size);
        return std::get<SimtHierarchicalConfig>(choose_config(problem_of(spec), find_gpu(gpu), {}).family);
    };
    CHECK(chosen(4096, "h200").blocks_per_wave == 132);
    CHECK(chosen(8192, "h200").blocks_per_wave == 132);
    CHECK(chosen(4096, "a100").blocks_per_wave % 108 == 0);
    CHECK(chosen(2048, "h200").blocks_per_wave == 0);   // 128 tiles are no whole wave
    CHECK(chosen(32768, "h200").blocks_per_wave == 0);  // of 248 waves a part of the last one is little
}

TEST_CASE(
    "simt_hierarchical: a kernel with remainder tiles has a workspace for their partial sums and an entry that adds "
    "them") {
    const GemmSpec spec = f32(GemmLayout::tn, 4096, 4096, 4096);
    const KernelConfig config = config_with("blocks_per_wave=132");
    const Family& family = find_family("simt_hierarchical");
    CHECK(family.workspace_bytes(problem_of(spec), config) == std::int64_t{116} * 256 * 128 * 4);
    const std::vector<KernelEntry> entries = family.entries(problem_of(spec).signature, config);
    REQUIRE(entries.size() == 2);
    CHECK(block_count(entries[0].grid, spec) == 512 + 116);
    CHECK(entries[1].function == "gemm_add_partials");
    CHECK(entries[1].arguments == entries[0].arguments);
    CHECK(block_count(entries[1].grid, spec) == 32 * 132);
}

TEST_CASE("every problem in f32 has a choice, of simt_hierarchical one without bank conflicts") {
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] :
             {Sizes{1, 1, 1}, {1, 5000, 3}, {5000000, 8, 8}, {4096, 4096, 4096}, {41, 55, 1000}, {64, 64, 0}}) {
            const GemmSpec spec = f32(layout, m, n, k);
            for (const char* gpu : {"h200", "a100", "rtx4090"}) {
                const KernelConfig config = choose_config(problem_of(spec), find_gpu(gpu), {});
                CHECK(family_name(config).starts_with("simt_"));
                if (family_name(config) != "simt_hierarchical") continue;
                for (const SharedAccess& access : family_of(config).anatomy(problem_of(spec), config).accesses)
                    CHECK(access.wavefronts == access.ideal);
            }
        }
}
