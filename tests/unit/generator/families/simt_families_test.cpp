/// The plain SIMT families, all through their rows of the family table: names, parameters, rules, text, who owns what.

#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/simt_variants.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

const Arch& kArch = find_arch("sm_90a");

GemmSpec problem(std::int64_t m, std::int64_t n, std::int64_t k, DataType type = DataType::f32,
                 GemmLayout layout = GemmLayout::tt) {
    return resolved(spec_of(layout, m, n, k, type));
}

std::string violations_of(const Problem& problem, const SimtVariant& variant) {
    const KernelConfig config = variant.config();
    return fmt::format("{}", fmt::join(family_of(config).violations(problem, config, kArch), "\n"));
}
std::string violations_of(const GemmSpec& spec, const SimtVariant& variant) {
    return violations_of(problem_of(spec), variant);
}

Selection selected(std::string_view family) { return {.kernel = {}, .family = std::string(family), .parameters = {}}; }

std::string body_of(const GemmSpec& spec, const KernelConfig& config) {
    return generate(problem_of(spec), config, kArch).body;
}

/// All problems whose text differs: layouts, types, with C and without.
std::vector<GemmSpec> all_signatures() {
    std::vector<GemmSpec> specs;
    for (const GemmLayout layout : kLayouts)
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16})
            for (const std::optional<DataType> c : {std::optional<DataType>(), std::optional(DataType::bf16)}) {
                GemmSpec spec = problem(100, 70, 50, type, layout);
                spec.c = c;
                spec.d = c ? DataType::f16 : spec.d;
                spec.align_d = 0;
                specs.push_back(resolved(spec));
            }
    return specs;
}

}  // namespace

TEST_CASE("SIMT families are chosen by name only") {
    for (const std::string_view name : kSimtFamilies) {
        const Family& family = find_family(name);
        INFO(name);
        CHECK(family.selected_by_default == nullptr);
        CHECK(family.math_unit == MathUnit::fp32_cores);
        const auto list = list_candidates(problem_of(problem(100, 100, 100)), find_gpu("h200"), selected(name));
        CHECK_FALSE(list.accepted.empty());
        for (const Candidate& candidate : list.accepted) CHECK(family_name(candidate.config) == name);
    }
    const GemmSpec half = problem(100, 100, 100, DataType::f16);
    CHECK(family_name(choose_config(problem_of(half), find_gpu("h200"))) == "mma_multistage");
}

TEST_CASE("SIMT kernel names read back, for every variant and candidate") {
    for (const GemmSpec& spec : all_signatures()) {
        for (const SimtVariant& variant : simt_variants()) {
            const KernelId id{problem_of(spec).signature, variant.config()};
            CHECK(parse_kernel_name(kernel_name(id)) == id);
        }
        for (const std::string_view name : kSimtFamilies)
            for (const KernelConfig& config : find_family(name).candidates(problem_of(spec), typical_gpu(kArch))) {
                const KernelId id{problem_of(spec).signature, config};
                CHECK(parse_kernel_name(kernel_name(id)) == id);
                CHECK(with_parameters(config, parameters_of(config)) == config);
            }
    }
}

TEST_CASE("a family whose name begins another's is told from it") {
    const GemmSpec spec = problem(64, 64, 64);
    const std::string name = kernel_name(problem_of(spec), SimtVariant{"simt_tile2d_shared", "panel_k=64"}.config());
    CHECK_THAT(name, ContainsSubstring("simt_tile2d_shared_f32_tt_"));
    CHECK(family_name(parse_kernel_name(name).config) == "simt_tile2d_shared");
    CHECK(choose_config(problem_of(spec), find_gpu("h200"), {.kernel = name, .family = {}, .parameters = {}}) ==
          parse_kernel_name(name).config);
}

TEST_CASE("an unknown SIMT parameter offers the nearest, a malformed value is named") {
    const auto refused = [](const char* family, const char* parameters) {
        try {
            static_cast<void>(SimtVariant{family, parameters}.config());
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK_THAT(refused("simt_naive", "coalesce=false"),
               ContainsSubstring("simt_naive has no parameter 'coalesce'; did you mean 'coalesced'?"));
    CHECK_THAT(refused("simt_tile2d_shared", "panel=32"), Says("did you mean", "'panel_k'"));
    CHECK_THAT(refused("simt_outer_product", "tile=2x2"),
               Says("simt_outer_product", "has no parameter", "'tile'") && ContainsSubstring("it has block"));
    CHECK_THAT(refused("simt_naive", "coalesced=maybe"), Says("'maybe'", "0", "1", "false"));
    CHECK_THAT(refused("simt_tile2d", "tile=4,grid=many"),
               ContainsSubstring("'4' is not <M>x<N>") && Says("'many'", "number"));
    CHECK_THAT(refused("simt_outer_product", "block=32x32"), ContainsSubstring("'32x32' is not <M>x<N>x<K>"));
}

TEST_CASE("SIMT tilings that can't be are refused with all reasons and their numbers") {
    const GemmSpec spec = problem(512, 512, 512);
    CHECK(violations_of(spec, {"simt_naive", ""}).empty());
    CHECK_THAT(violations_of(spec, {"simt_naive", "block=64x32"}),
               ContainsSubstring("64 x 32 = 2048 threads per block") && ContainsSubstring("more than 1024"));
    CHECK_THAT(violations_of(spec, {"simt_naive", "block=3x5"}),
               ContainsSubstring("3 x 5 = 15 threads") && ContainsSubstring("5 threads along N"));
    CHECK_THAT(violations_of(spec, {"simt_naive", "block=24x32,coalesced=0"}), Says("24", "M", "multiple", "32", "D"));
    CHECK_THAT(violations_of(spec, {"simt_naive", "block=0x32"}),
               Says("block_tile.m = 0", "multiple", "thread_tile.m = 1"));
    CHECK_THAT(violations_of(spec, {"simt_tile2d", "block=30x130,tile=4x4"}),
               Says("block_tile.m = 30", "multiple", "thread_tile.m = 4") &&
                   Says("block_tile.n = 130", "multiple", "thread_tile.n = 4"));
    CHECK_THAT(violations_of(spec, {"simt_tile2d", "tile=0x17"}),
               Says("thread_tile.m = 0", "outside", "1", "16") && Says("thread_tile.n = 17", "1", "outside", "16"));
    CHECK_THAT(violations_of(spec, {"simt_tile2d", "block=256x512,tile=16x16"}), Says("registers", "256", "32", "255"));
    CHECK_THAT(violations_of(spec, {"simt_tile2d", "block=256x256,tile=8x8"}), Says("1024", "exceed", "65536"));
    CHECK_THAT(violations_of(spec, {"simt_outer_product", "block=16x16x16"}),
               Says("16", "N", "multiple", "32") && Says("16", "K", "shared memory", "32"));
    CHECK_THAT(violations_of(spec, {"simt_outer_product", "block=32x32x0"}), ContainsSubstring("0 of K"));
    CHECK(violations_of(problem(2'000'000'000, 2, 4), {"simt_naive", "block=1x32"}).empty());
    CHECK_THAT(violations_of(problem(2'000'000'000, 100, 4), {"simt_naive", "block=1x32"}),
               Says("8000000000", "exceed", "2147483647"));
    CHECK(violations_of(problem(2'000'000'000, 100, 4), {"simt_tile2d", ""}).empty());
}

TEST_CASE("a K whose panels don't fit shared memory is refused with the bytes it needs") {
    const Selection family = selected("simt_tile2d_shared");
    CHECK_THROWS_WITH(choose_config(problem_of(problem(512, 512, 4096)), find_gpu("h200"), family),
                      ContainsSubstring("A (8 x 4096) and B (4096 x 32) take 655360 bytes of shared memory in f32, "
                                        "sm_90a has 232448: 1440 of K would fit"));
    // The message's promise holds, and it promises no more. This is so in the layout that pads B, too.
    for (const GemmLayout layout : {GemmLayout::tt, GemmLayout::tn}) {
        CHECK_NOTHROW(
            choose_config(problem_of(problem(512, 512, 1440, DataType::f32, layout)), find_gpu("h200"), family));
        CHECK_THROWS(
            choose_config(problem_of(problem(512, 512, 1441, DataType::f32, layout)), find_gpu("h200"), family));
    }
    Selection chunks = family;
    chunks.parameters = {{"panel_k", "64"}};
    const KernelConfig config = choose_config(problem_of(problem(512, 512, 4096)), find_gpu("h200"), chunks);
    CHECK(std::get<SimtTile2dSharedConfig>(config.family).panel_k == 64);
    chunks.parameters = {{"panel_k", "0"}};
    const KernelConfig whole = choose_config(problem_of(problem(512, 512, 1000)), find_gpu("h200"), chunks);
    CHECK(std::get<SimtTile2dSharedConfig>(whole.family).panel_k == 1024);
}

TEST_CASE("what a SIMT family doesn't compute is said") {
    GemmSpec spec = problem(64, 64, 64, DataType::f16);
    spec.accumulator = DataType::f16;
    CHECK_THAT(violations_of(spec, {"simt_naive", ""}), Says("simt_naive", "adds", "f32", "f16"));
    Problem mixed = problem_of(problem(64, 64, 64, DataType::f16));
    spec = mixed.asked;
    spec.b = DataType::bf16;
    mixed.set_row_major(spec);
    CHECK_THAT(violations_of(mixed, {"simt_tile2d", ""}), Says("simt_tile2d", "multiplies", "f32", "f16", "bf16"));
    CHECK_THAT(violations_of(problem(64, 64, 64, DataType::e4m3), {"simt_tile2d", ""}), ContainsSubstring("e4m3"));
}

TEST_CASE("every SIMT variant renders to text without leftovers, for every signature") {
    for (const SimtVariant& variant : simt_variants())
        for (const GemmSpec& spec : all_signatures()) {
            INFO(variant.family << " " << variant.parameters);
            const std::string body = body_of(spec, variant.config());
            CHECK(body.find("GEMM_") == std::string::npos);
            CHECK(body.find("#include") == std::string::npos);
            CHECK(body.find("#if") == std::string::npos);
            CHECK(body.find("Accumulator") == std::string::npos);  // tensor cores' business
            CHECK((body.find("args.c") != std::string::npos) == spec.c.has_value());
            CHECK((body.find("Bits") != std::string::npos) == (spec.a != DataType::f32 || spec.c.has_value()));
        }
}

TEST_CASE("coalesced=false is another kernel") {
    const GemmSpec spec = problem(64, 64, 64);
    const std::string coalesced = body_of(spec, SimtVariant{"simt_naive", ""}.config());
    const std::string twin = body_of(spec, SimtVariant{"simt_naive", "coalesced=false"}.config());
    CHECK_THAT(coalesced, ContainsSubstring("tile_column + threadIdx.x % kThreadsN"));
    CHECK_THAT(twin, ContainsSubstring("tile_row + threadIdx.x % kThreadsM"));
}

TEST_CASE("a grid-stride grid has as many blocks as tiles, up to its limit") {
    const auto blocks_of = [](const GemmSpec& spec, const char* parameters) {
        const KernelSource source = generate(problem_of(spec), SimtVariant{"simt_tile2d", parameters}.config(), kArch);
        return block_count(source.entries.at(0).grid, spec);
    };
    CHECK(blocks_of(problem(100, 100, 8), "block=8x32,tile=1x1,grid=7") == 7);
    CHECK(blocks_of(problem(16, 32, 8), "block=8x32,tile=1x1,grid=7") == 2);
    CHECK(blocks_of(problem(100, 100, 8), "block=8x32,tile=1x1,grid=0") == 13 * 4);
}

TEST_CASE("every element has one owner, and each of a block's sums owns one element of a tile") {
    for (const SimtVariant& variant : simt_variants()) {
        INFO(variant.family << " " << variant.parameters);
        const GemmSpec spec = problem(150, 170, 20);
        const KernelConfig config = variant.config();
        const Family& family = family_of(config);
        const KernelEntry entry = family.entries(problem_of(spec).signature, config).at(0);
        std::set<std::tuple<std::int64_t, std::int64_t, int, int, int>> seen;
        for (std::int64_t row = 0; row < spec.m; ++row)
            for (std::int64_t column = 0; column < spec.n; ++column) {
                const ElementOwner owner = family.owner(problem_of(spec), config, row, column);
                REQUIRE(owner.block < block_count(entry.grid, spec));
                REQUIRE(owner.warp * 32 + owner.lane < entry.threads);
                REQUIRE(seen.emplace(owner.tile_m, owner.tile_n, owner.warp, owner.lane, owner.accumulator_register)
                            .second);
            }
        CHECK(seen.size() == 150 * 170);
    }
}

TEST_CASE("no access to shared memory conflicts, in any layout") {
    for (const SimtVariant& variant : simt_variants())
        for (const GemmSpec& spec : all_signatures()) {
            const KernelConfig config = variant.config();
            const KernelAnatomy anatomy = family_of(config).anatomy(problem_of(spec), config);
            CHECK((anatomy.stages == 0) == anatomy.accesses.empty());
            for (const SharedAccess& access : anatomy.accesses) {
                INFO(variant.family << " " << variant.parameters << " " << access.what);
                CHECK(access.instructions > 0);
                CHECK(access.worst == Wavefronts{1, 1});
            }
        }
}

TEST_CASE("the cost orders SIMT kernels as their loads do") {
    const GemmSpec spec = problem(4096, 4096, 4096);
    const GpuModel& gpu = find_gpu("h200");
    const auto time = [&](const char* family, const char* parameters) {
        const KernelConfig config = SimtVariant{family, parameters}.config();
        return family_of(config).cost(problem_of(spec), config, gpu).total_us;
    };
    CHECK(time("simt_naive", "coalesced=false") > 2 * time("simt_naive", ""));
    CHECK(time("simt_tile2d", "block=8x32,tile=1x1") > 2 * time("simt_tile2d", "block=32x128,tile=4x4"));
    CHECK(time("simt_naive", "") > time("simt_outer_product_tile2d", ""));
    CHECK(time("simt_outer_product_tile2d", "") > flops(spec) / 59.3e6);  // nothing beats the FP32 cores
}

TEST_CASE("problems without elements or without depth have a finite cost") {
    for (const auto& [m, n, k] : {std::tuple{0, 64, 64}, {64, 0, 64}, {64, 64, 0}})
        for (const std::string_view name : kSimtFamilies) {
            const auto list = list_candidates(problem_of(problem(m, n, k)), find_gpu("h200"), selected(name));
            REQUIRE_FALSE(list.accepted.empty());
            for (const Candidate& candidate : list.accepted)
                CHECK((candidate.cost.total_us > 0 && candidate.cost.total_us < 1000));
        }
}
