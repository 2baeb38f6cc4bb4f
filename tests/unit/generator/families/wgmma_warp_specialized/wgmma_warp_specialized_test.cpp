#include "generator/base/packed_operand.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <tuple>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Config = WgmmaWarpSpecializedConfig;

Config config_with(std::string_view parameters) {
    return std::get<Config>(with_parameters({Config{}}, parse_parameters(std::string(parameters))).family);
}

std::string violations(const GemmSpec& spec, std::string_view parameters, std::string_view arch = "sm_90a") {
    return fmt::format(
        "{}",
        fmt::join(WgmmaWarpSpecialized::violations(problem_of(spec), config_with(parameters), find_arch(arch)), "; "));
}

GemmSpec square(std::int64_t size) { return spec_of(GemmLayout::tn, size, size, size); }

}  // namespace

TEST_CASE("wgmma: the variants that are tested are kernels, and their names read back") {
    std::vector<std::string_view> variants(kWgmmaVariants.begin(), kWgmmaVariants.end());
    variants.insert(variants.end(), kWgmmaRegisterVariants.begin(), kWgmmaRegisterVariants.end());
    variants.insert(variants.end(), kWgmmaFillingVariants.begin(), kWgmmaFillingVariants.end());
    for (const std::string_view variant : variants) {
        GemmSpec spec = square(512);
        spec.constant_a = spec.constant_b = true;
        CHECK(violations(spec, variant).empty());
        const KernelId id{problem_of(square(512)).signature, {config_with(variant)}};
        CHECK(parse_kernel_name(kernel_name(id)) == id);
        CHECK(kernel_name(id).size() < 110);
    }
}

TEST_CASE("wgmma: what can't be is refused with its reason") {
    CHECK_THAT(violations(square(512), "", "sm_80"), ContainsSubstring("needs sm_90a (wgmma, TMA), not sm_80"));
    GemmSpec wide = square(512);
    wide.lda = std::int64_t{1} << 39;
    CHECK_THAT(violations(wide, ""), ContainsSubstring("TMA reaches below"));
    CHECK_THAT(violations(square(512), "block=96x128x64,warpgroup=96x128"), ContainsSubstring("the rows of a wgmma"));
    CHECK_THAT(violations(square(512), "block=128x100x64,warpgroup=64x100"), ContainsSubstring("steps of a wgmma's n"));
    CHECK_THAT(violations(square(512), "block=128x264x64,warpgroup=64x264"), ContainsSubstring("warpgroup_tile.n"));
    CHECK_THAT(violations(square(512), "block=128x128x96,warpgroup=64x128"), ContainsSubstring("whole panels"));
    CHECK_THAT(violations(square(512), "schedule=pingpong"), ContainsSubstring("whole block tiles"));
    CHECK_THAT(violations(square(512), "schedule=overlapped"), ContainsSubstring("two halves"));
    CHECK_THAT(violations(square(512), "block=64x256x64,warpgroup=64x64"), ContainsSubstring("4 consumer warpgroups"));
    CHECK_THAT(violations(square(512), "block=256x256x64,warpgroup=128x256,stages=2"),
               ContainsSubstring("256 accumulators per thread"));
    CHECK_THAT(violations(square(512), "stages=8"), ContainsSubstring("bytes of shared memory"));
    CHECK_THAT(violations(square(512), "stages=1"), ContainsSubstring("stages = 1"));
    CHECK_THAT(violations(square(512), "cluster=4x4"), ContainsSubstring("cluster = 4x4"));
    CHECK_THAT(violations(square(512), "block=64x24x64,warpgroup=64x24,cluster=16x1"),
               ContainsSubstring("24 rows of its panels are not as many for each"));
    for (const char* shared :
         {"block=64x24x64,warpgroup=64x24,cluster=4x1", "block=128x72x64,warpgroup=64x72,cluster=4x2"})
        CHECK(violations(square(512), shared).empty());
    CHECK_THAT(violations(with_tma_pitches(spec_of(GemmLayout::tn, 512, 500, 512)), ""),
               ContainsSubstring("store = tma"));
    CHECK(violations(with_tma_pitches(spec_of(GemmLayout::tn, 512, 500, 512)), "store=smem").empty());
    // 32 columns begin in the middle of a panel of B, which holds N contiguous.
    CHECK_THAT(violations(spec_of(GemmLayout::tt, 512, 512, 512), "block=64x96x64,warpgroup=64x32"),
               ContainsSubstring("share B's panels of 64 elements"));
    CHECK(violations(square(512), "block=64x96x64,warpgroup=64x32").empty());
}

TEST_CASE("wgmma: A from registers takes whole turns of fragments, and the registers that they lie in") {
    const std::string_view wide = "block=128x176x64,warpgroup=128x176,schedule=pingpong,stages=3";
    CHECK(violations(square(512), wide).empty());
    CHECK_THAT(violations(square(512), fmt::format("{},a_source=rmem", wide)),
               ContainsSubstring("176 accumulators, 16 registers of A per thread and about 56 other registers"));
    CHECK(
        violations(square(512), "block=128x160x64,warpgroup=128x160,schedule=pingpong,stages=3,a_source=rmem").empty());
    CHECK_THAT(violations(square(512),
                          "block=128x160x64,warpgroup=128x160,schedule=pingpong,stages=3,stream_k=7,a_source=rmem"),
               ContainsSubstring("about 64 other registers"));
    CHECK_THAT(violations(square(512), "block=192x64x64,warpgroup=64x64,stages=3,stream_k=7,a_source=rmem"),
               ContainsSubstring("with stream_k 3 consumers leave too few registers"));
    CHECK_THAT(violations(spec_of(GemmLayout::nt, 512, 512, 512), "block=128x64x96,warpgroup=64x64,a_source=rmem"),
               ContainsSubstring("fragments of A take turns every 64 of K, not block_tile.k = 96"));
    CHECK(kernel_name(problem_of(square(512)),
                      {config_with("block=128x64x64,warpgroup=64x64,a_source=rmem,dependent_launch=1")}) ==
          "wgmma_bf16_tn_128x64x64_stages4_a-rmem");
}

TEST_CASE("wgmma: A from registers is for those who ask for it: no timing of such kernels is in their cost") {
    const auto from_registers = [](const ParameterMap& parameters) {
        const CandidateList list =
            list_candidates(problem_of(spec_of(GemmLayout::tn, 16, 6144, 4096)), find_gpu("h200"),
                            {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = parameters});
        return std::ranges::count_if(list.accepted, [](const Candidate& one) {
            return one.config.as<Config>().a_source == OperandSource::registers &&
                   family_of(one.config).is_untimed(one.config);
        });
    };
    CHECK(from_registers({}) == 0);
    CHECK(from_registers({{"a_source", "rmem"}}) > 100);
    const KernelConfig asked = choose_config(problem_of(square(4096)), find_gpu("h200"),
                                             {.kernel = {}, .family = {}, .parameters = {{"a_source", "rmem"}}});
    CHECK(asked.as<Config>().a_source == OperandSource::registers);
}

// What an ldmatrix costs, and that the swizzle keeps its rows off each other's banks.
TEST_CASE("wgmma: fragments of A are loaded without bank conflicts, transposed where M is contiguous") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        const GemmSpec spec = resolved(spec_of(layout, 512, 512, 512));
        const KernelAnatomy anatomy = WgmmaWarpSpecialized::anatomy(
            problem_of(spec), config_with("block=128x128x64,warpgroup=64x64,a_source=rmem"));
        REQUIRE(anatomy.accesses.size() == 1);
        const SharedAccess& load = anatomy.accesses.front();
        CHECK(load.instruction == (layout == GemmLayout::tn ? "ldmatrix.x4" : "ldmatrix.x4.trans"));
        CHECK(load.instructions == 8 * 4 * 2);  // fragments of A, k-blocks, consumers along N
        CHECK(load.wavefronts == load.ideal);
        CHECK_THAT(anatomy.instruction, ContainsSubstring("m64n64k16"));
        CHECK(anatomy.fragment_registers == 16);
    }
}

TEST_CASE("wgmma: rows of D that are no whole 16 bytes are not stored by TMA, which would write beyond them") {
    for (const std::int64_t n : {500, 504, 512}) {
        const GemmSpec spec = with_tma_pitches(spec_of(GemmLayout::tn, 512, n, 512));
        const KernelConfig chosen = choose_config(problem_of(spec), find_gpu("h200"),
                                                  {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = {}});
        CHECK((std::get<Config>(chosen.family).store == OutputStore::tma) == (n % 8 == 0));
    }
}

TEST_CASE("wgmma: shared memory is what the ring, the slices and the barriers take") {
    const WgmmaGeometry g =
        geometry(problem_of(square(512)).signature, config_with("block=128x176x64,warpgroup=64x176,stages=4"));
    CHECK(g.consumers == 2);
    CHECK(g.threads == 384);
    CHECK(g.stage_bytes == (128 + 176) * 64 * 2);
    CHECK(g.slice_columns == 64);
    CHECK(g.rest_columns == 48);
    CHECK(g.staging_bytes == 8 * 2 * 16 * 64 * 2);
    CHECK(g.shared_bytes == 4 * g.stage_bytes + g.staging_bytes + 4 * 16);
    CHECK(g.accumulator_registers == 88);
    // MN-major: whole panels, though the tile's columns end within one.
    const WgmmaGeometry mn = geometry(problem_of(spec_of(GemmLayout::tt, 512, 512, 512)).signature,
                                      config_with("block=128x176x64,warpgroup=64x176,stages=4"));
    CHECK(mn.b.bytes == 3 * 64 * 128);
    CHECK(mn.b.box == std::array{64, 64});
}

TEST_CASE("wgmma: every element of D has one owner") {
    for (const char* parameters :
         {"block=128x64x64,warpgroup=64x64,cluster=2x1", "block=64x80x64,warpgroup=64x80,schedule=pingpong",
          "block=64x64x64,warpgroup=64x32,rasterization=zigzag,group=2",
          "block=64x40x64,warpgroup=64x40,rasterization=column,cluster=1x2",
          "block=128x64x64,warpgroup=64x64,swap_ab=1,cluster=1x2"}) {
        const Problem problem = problem_of(spec_of(GemmLayout::tn, 136, 88, 64));
        const Config config = config_with(parameters);
        std::set<std::tuple<std::int64_t, int, int, int>> owners;
        for (std::int64_t row = 0; row < problem.asked.m; ++row)
            for (std::int64_t column = 0; column < problem.asked.n; ++column) {
                const ElementOwner owner = WgmmaWarpSpecialized::owner(problem, config, row, column);
                REQUIRE(owners.emplace(owner.block, owner.warp, owner.lane, owner.accumulator_register).second);
            }
    }
}

TEST_CASE(
    "wgmma: with stream-K the owner of an element is the block that has its tile's last k-tile, or the whole tile") {
    // 8 tiles for 5 clusters: all are streamed, of 8 k-tiles each; shares of 12 or 13 k-tiles.
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 512, 128, 512));
    const auto block_of = [&](std::int64_t row, std::int64_t column) {
        return WgmmaWarpSpecialized::owner(
                   problem_of(spec), config_with("block=128x64x64,warpgroup=64x64,rasterization=column,stream_k=5"),
                   row, column)
            .block;
    };
    CHECK(block_of(0, 0) == 0);
    CHECK(block_of(128, 0) == 1);
    CHECK(block_of(256, 0) == 1);  // the second cluster's share ends with the third tile: one k-tile is left to nobody
    CHECK(block_of(384, 127) == 4);
}

TEST_CASE("wgmma: stream-K and swap_ab are refused where they can't be") {
    CHECK_THAT(violations(square(512), "stream_k=7,cluster=2x1"),
               ContainsSubstring("stream_k = 7 blocks are not whole clusters of 2x1"));
    const GemmSpec few = spec_of(GemmLayout::tn, 256, 1024, 640);  // 8 tiles of 10 k-tiles
    const std::string overlapped = "block=256x128x64,warpgroup=128x128,schedule=overlapped,stages=4,stream_k=";
    CHECK_THAT(
        violations(few, overlapped + "41"),
        ContainsSubstring("stream_k = 41 deals 80 k-tiles out to 41 clusters: overlapped takes 2 each at least"));
    CHECK(violations(few, overlapped + "40").empty());
    CHECK_THAT(violations(square(512), "stream_k=2000"), ContainsSubstring("stream_k = 2000 is outside 1 to 1024"));
    const std::string_view swapped = "block=128x64x64,warpgroup=64x64,swap_ab=1";
    CHECK(violations(square(512), swapped).empty());
    GemmSpec spec = square(512);
    spec.d = DataType::f32;
    CHECK_THAT(violations(spec, swapped), ContainsSubstring("swap_ab stores D of 16 bits, not f32"));
    spec = square(512);
    spec.c = DataType::bf16;
    CHECK_THAT(violations(spec, swapped), ContainsSubstring("swap_ab reads no C but one row of it"));
    spec.broadcast_c = true;
    CHECK(violations(spec, "block=128x64x64,warpgroup=64x64,swap_ab=1,broadcast_c=1").empty());
    spec = spec_of(GemmLayout::tn, 512, 512, 511);
    CHECK_THAT(violations(spec, swapped), ContainsSubstring("swap_ab packs no operand, A is aligned to 2 bytes"));
    CHECK_THAT(violations(square(512), "block=128x64x64,warpgroup=64x64,swap_ab=1,store=smem"),
               ContainsSubstring("swap_ab stores by TMA alone"));
}

TEST_CASE("wgmma: blocks that aren't persistent are as many as the tiles, and of no schedule that wants a next tile") {
    const Config one_tile = config_with("block=128x64x64,warpgroup=64x64,persistent=0");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 2000, 1000, 512));
    REQUIRE(WgmmaWarpSpecialized::violations(problem_of(spec), one_tile, find_arch("sm_90a")).empty());
    const KernelEntry gemm = WgmmaWarpSpecialized::entries(problem_of(spec).signature, one_tile).back();
    CHECK_FALSE(needs_sm_count(gemm.grid));
    CHECK(block_count(gemm.grid, spec) == 16 * 16);
    CHECK(generate(problem_of(spec), {one_tile}, find_arch("sm_90a")).body.find("has_tile") == std::string::npos);
    CHECK_THAT(violations(square(512), "block=64x64x64,warpgroup=64x64,schedule=pingpong,persistent=0"),
               ContainsSubstring("persistent = 0: pingpong warpgroups take tiles in turn, and a block has one"));
    CHECK_THAT(violations(square(512), "block=128x64x64,warpgroup=128x64,schedule=overlapped,persistent=0"),
               ContainsSubstring("persistent = 0: overlapped stores while the next tile is multiplied"));
    CHECK_THAT(violations(square(512), "block=64x64x64,warpgroup=64x64,stream_k=12,persistent=0"),
               ContainsSubstring("persistent = 0: stream_k = 12 blocks stay for several tiles"));
}

TEST_CASE(
    "wgmma: a kernel that isn't persistent has that in its name, is chosen when asked for, and predicted no faster") {
    const GpuModel& gpu = find_gpu("h200");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 4096, 4096, 4096));
    const auto chosen = [&](const ParameterMap& parameters) {
        return choose_config(problem_of(spec), gpu,
                             {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = parameters});
    };
    const KernelConfig one_tile = chosen({{"persistent", "0"}});
    const std::string name = kernel_name(problem_of(spec), one_tile);
    CHECK_THAT(name, ContainsSubstring("_persistent0"));
    CHECK(parse_kernel_name(name).config == one_tile);
    Config persistent = one_tile.as<Config>();
    persistent.persistent = true;
    CHECK(WgmmaWarpSpecialized::cost(problem_of(spec), persistent, gpu).total_us <
          WgmmaWarpSpecialized::cost(problem_of(spec), one_tile.as<Config>(), gpu).total_us);
    CHECK(chosen({}).as<Config>().persistent);
}

TEST_CASE("wgmma: without a producer there are the warps that multiply alone, and no C in the ring") {
    const Config filling = config_with("block=128x64x64,warpgroup=64x64,persistent=0,warp_specialized=0");
    GemmSpec spec = spec_of(GemmLayout::tn, 2000, 1000, 512);
    spec.c = spec.d;
    spec = resolved(spec);
    REQUIRE(WgmmaWarpSpecialized::violations(problem_of(spec), filling, find_arch("sm_90a")).empty());
    CHECK(WgmmaWarpSpecialized::entries(problem_of(spec).signature, filling).back().threads == 256);
    const KernelAnatomy anatomy = WgmmaWarpSpecialized::anatomy(problem_of(spec), filling);
    REQUIRE(anatomy.roles.size() == 1);
    CHECK(anatomy.roles.front().warps == 8);
    CHECK(anatomy.roles.front().registers == 255);
    const std::string body = generate(problem_of(spec), {filling}, find_arch("sm_90a")).body;
    for (const char* const word : {"setmaxnreg", "kProducerRegisters", "copy_tiles", "map_c"}) {
        INFO(word);
        CHECK_THAT(body, !ContainsSubstring(word));
    }
}

TEST_CASE("wgmma: without a producer blocks have one tile, A in shared memory, and fetch nothing early") {
    CHECK(violations(square(512), "block=128x64x64,warpgroup=64x64,persistent=0,warp_specialized=0").empty());
    CHECK_THAT(violations(square(512), "block=128x64x64,warpgroup=64x64,persistent=0,cluster=2x2"),
               ContainsSubstring("cluster must be 1x1, not 2x2"));
    CHECK_THAT(violations(square(512), "block=64x64x64,warpgroup=64x64,warp_specialized=0"),
               ContainsSubstring("warp_specialized = 0 wants persistent = 0: no warp copies the next tile ahead"));
    CHECK(violations(square(512), "block=64x64x64,warpgroup=64x64,schedule=pingpong,persistent=0,warp_specialized=0") ==
          "warp_specialized = 0: pingpong warpgroups take tiles in turn, and a block has one");
    CHECK(violations(square(512),
                     "block=128x64x64,warpgroup=128x64,schedule=overlapped,persistent=0,warp_specialized=0") ==
          "warp_specialized = 0: overlapped stores while the next tile is multiplied, and a block has one");
    CHECK(violations(square(512), "block=64x64x64,warpgroup=64x64,stream_k=12,persistent=0,warp_specialized=0") ==
          "warp_specialized = 0: stream_k = 12 blocks stay for several tiles");
    CHECK(violations(square(512), "block=64x64x64,warpgroup=64x64,a_source=rmem,persistent=0,warp_specialized=0") ==
          "warp_specialized = 0 takes A from shared memory (a_source = smem), not from registers");
    GemmSpec spec = square(512);
    spec.constant_b = true;
    CHECK_THAT(
        violations(spec, "block=64x64x64,warpgroup=64x64,dependent_launch=1,early=b,persistent=0,warp_specialized=0"),
        ContainsSubstring("early must be none"));
}

TEST_CASE("wgmma: a kernel without a producer has that in its name, and is chosen when asked for alone") {
    const GpuModel& gpu = find_gpu("h200");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 4096, 4096, 4096));
    const auto chosen = [&](const ParameterMap& parameters) {
        return choose_config(problem_of(spec), gpu,
                             {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = parameters});
    };
    const KernelConfig filling = chosen({{"persistent", "0"}, {"warp_specialized", "0"}});
    const std::string name = kernel_name(problem_of(spec), filling);
    CHECK_THAT(name, ContainsSubstring("_persistent0_warpspecialized0"));
    CHECK(parse_kernel_name(name).config == filling);
    Config specialized = filling.as<Config>();
    specialized.warp_specialized = true;
    CHECK(WgmmaWarpSpecialized::cost(problem_of(spec), specialized, gpu).total_us <=
          WgmmaWarpSpecialized::cost(problem_of(spec), filling.as<Config>(), gpu).total_us);
    CHECK(chosen({}).as<Config>().warp_specialized);
    CHECK(chosen({{"persistent", "0"}}).as<Config>().warp_specialized);
}

// The choice asks what a candidate costs before it asks whether it can be.
TEST_CASE("wgmma: constant operands are fetched early, unless the launch itself packs them or nothing is waited for") {
    const GpuModel& gpu = find_gpu("h200");
    const auto chosen = [&](GemmSpec spec, const ParameterMap& parameters = {}) {
        return choose_config(problem_of(spec), gpu,
                             {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = parameters})
            .as<WgmmaWarpSpecializedConfig>();
    };
    GemmSpec spec = spec_of(GemmLayout::tn, 64, 4096, 4096);
    CHECK_FALSE((chosen(spec).early_a || chosen(spec).early_b));
    spec.constant_b = true;
    CHECK((!chosen(spec, {{"swap_ab", "0"}}).early_a && chosen(spec, {{"swap_ab", "0"}}).early_b));
    CHECK((chosen(spec, {{"swap_ab", "1"}}).early_a && !chosen(spec, {{"swap_ab", "1"}}).early_b));
    GemmSpec by_columns = spec;
    by_columns.d_order = Order::column;  // D^T = B^T A^T is what kernels see
    CHECK((chosen(by_columns, {{"swap_ab", "0"}}).early_a && !chosen(by_columns, {{"swap_ab", "0"}}).early_b));
    spec.ldb = 4097;
    CHECK_FALSE((chosen(spec).early_a || chosen(spec).early_b));
    CHECK_THROWS_WITH(chosen(spec, {{"early", "b"}}),
                      ContainsSubstring("early: B is packed by an entry of the launch"));
    spec.ldb = 0;
    CHECK_THROWS_WITH(chosen(spec, {{"early", "ab"}, {"swap_ab", "0"}}),
                      ContainsSubstring("early: A is not constant in this problem"));
    CHECK_THROWS_WITH(chosen(spec, {{"early", "b"}, {"swap_ab", "1"}}), ContainsSubstring("early: A is not constant"));
    CHECK_THROWS_WITH(chosen(spec, {{"early", "b"}, {"dependent_launch", "0"}}),
                      ContainsSubstring("early: nothing is waited for without dependent_launch"));
    CHECK_THROWS_WITH(chosen(spec, {{"early", "c"}}), ContainsSubstring("'c' is not none, a, b or ab"));
    spec.m = spec.n = spec.k = 8192;  // of a launch of a millisecond it is nothing
    CHECK_FALSE((chosen(spec).early_a || chosen(spec).early_b));
}

TEST_CASE("wgmma: forced parameters that can't be are refused by the choice, not divided by") {
    for (const char* parameters : {"stream_k=1,cluster=2x1", "cluster=0x1,stream_k=4", "cluster=0x0",
                                   "cluster=0x0,stream_k=7", "block=0x64x64,stream_k=4", "block=64x0x64,stream_k=4",
                                   "block=64x64x0,stream_k=4", "warpgroup=0x0,stream_k=4,swap_ab=1",
                                   "stages=0,stream_k=5", "slices=0,swap_ab=1", "stream_k=9999,cluster=9999x9999"}) {
        INFO(parameters);
        const Selection selection{
            .kernel = {}, .family = "wgmma_warp_specialized", .parameters = parse_parameters(parameters)};
        CHECK_THROWS_AS(choose_config(problem_of(square(512)), find_gpu("h200"), selection), ConfigError);
        CHECK(list_candidates(problem_of(square(512)), find_gpu("h200"), selection).accepted.empty());
    }
}

TEST_CASE("wgmma: D^T = B^T A^T swaps extents, operands and their layouts, and leaves D alone") {
    const GemmSpec spec = resolved(spec_of(GemmLayout::tt, 120, 264, 72));
    Config config;
    CHECK(as_multiplied(spec, config.swap_ab).m == 120);
    config.swap_ab = true;
    const GemmSpec turned = as_multiplied(spec, config.swap_ab);
    CHECK(std::tuple(turned.m, turned.n, turned.k) == std::tuple(264, 120, 72));
    CHECK(turned.layout == GemmLayout::nn);
    CHECK(turned.lda == spec.ldb);
    CHECK(turned.ldb == spec.lda);
    CHECK(turned.ldd == spec.ldd);
    CHECK(as_multiplied(problem_of(spec).signature, config.swap_ab).layout == GemmLayout::nn);
    CHECK(as_multiplied(problem_of(spec_of(GemmLayout::tn, 120, 264, 72)).signature, config.swap_ab).layout ==
          GemmLayout::tn);
}

TEST_CASE("wgmma: bench/random_aligned.txt holds the 200 problems of seed 15") {
    std::mt19937_64 bits(15);
    const auto extent = [&] {
        constexpr double kSpan = 64;  // from 256 to 16384
        return 8 * std::llround(256 * std::pow(kSpan, static_cast<double>(bits() >> 11) * 0x1p-53) / 8);
    };
    std::vector<std::string> drawn;
    for (std::size_t i = 0; i < 200; ++i) {
        const auto m = extent();
        const auto n = extent();
        const auto k = extent();
        drawn.push_back(fmt::format("bf16 {} {} {} {}", to_string(kLayouts[i % kLayouts.size()]), m, n, k));
    }
    std::ifstream file(std::string(JITGEMM_SOURCE_DIR) + "/bench/random_aligned.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    CHECK(lines == drawn);
}

TEST_CASE("wgmma: what TMA can't address is packed, A first, and stream-K's sums lie behind it") {
    const std::string parameters = "block=128x64x64,warpgroup=64x64,stages=3,store=smem,stream_k=6";
    const auto entries_of = [&](const GemmSpec& spec) {
        return WgmmaWarpSpecialized::entries(problem_of(spec).signature, config_with(parameters));
    };
    // A (300, 1001) and B (1001, 200), K and N contiguous: rows of 1001 and 203 elements are padded to whole lines.
    const GemmSpec both = resolved(spec_of(GemmLayout::tt, 300, 203, 1001));
    const std::vector<KernelEntry> entries = entries_of(both);
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].function == "gemm_pack");
    CHECK(entries[0].grid.matrix == GridMatrix::ab);
    CHECK(block_count(entries[0].grid, both) == 38 * 4 + 26 * 4);
    constexpr std::int64_t kPackedA = 300 * 1024 * 2;
    constexpr std::int64_t kPackedB = 1001 * 256 * 2;
    CHECK(WgmmaWarpSpecialized::workspace_bytes(problem_of(both), config_with(parameters)) ==
          kPackedA + kPackedB + 6 * 128 * 64 * 4);
    CHECK(packed_offset(ArgumentRole::packed_b, both) == kPackedA);
    const auto role = [&](std::size_t entry, std::size_t argument) {
        return role_of(entries[entry].arguments[argument]);
    };
    CHECK(role(1, 0) == ArgumentRole::packed_a);
    CHECK(role(1, 1) == ArgumentRole::packed_b);

    const GemmSpec only_b = resolved(spec_of(GemmLayout::tt, 300, 203, 1000));
    CHECK(entries_of(only_b)[0].grid.matrix == GridMatrix::b);
    CHECK(packed_offset(ArgumentRole::packed_b, only_b) == 0);
    CHECK(entries_of(resolved(spec_of(GemmLayout::tt, 300, 200, 1000))).size() == 1);
}

TEST_CASE("wgmma: arguments are called what the kernel calls them, also of D^T, whose operands change places") {
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 120, 264, 72));
    const KernelConfig config{config_with("block=128x64x64,warpgroup=64x64,swap_ab=1")};
    const std::string text = host_main(generate(problem_of(spec), config, find_arch("sm_90a")), problem_of(spec));
    CHECK_THAT(text, ContainsSubstring("args.m = kN;") && ContainsSubstring("args.n = kM;"));
    CHECK_THAT(
        text, ContainsSubstring("encode_tensor_map(&args.map_a, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (CUdeviceptr)b,"));
    CHECK_THAT(
        text, ContainsSubstring("encode_tensor_map(&args.map_b, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (CUdeviceptr)a,"));
}

TEST_CASE("wgmma: C comes through the ring where it lies as D does and the ring has room, else the epilogue reads it") {
    GemmSpec spec = square(4096);
    spec.c = DataType::bf16;
    const auto stages = [](const GemmSpec& of, std::string_view parameters) {
        const GemmSignature signature = as_multiplied(problem_of(of).signature, config_with(parameters).swap_ab);
        return geometry(signature, config_with(parameters)).c_stages;
    };
    const char* const cooperative = "block=128x256x64,warpgroup=64x256,stages=4";
    CHECK(stages(spec, cooperative) == 2);  // four panels of 16 KB in stages of 48 KB
    CHECK(stages(spec, "block=128x128x64,warpgroup=128x128,schedule=pingpong,stages=6") == 1);
    CHECK(stages(spec, "block=256x192x64,warpgroup=128x192,schedule=overlapped,stages=3") == 1);  // for either half
    CHECK(stages(spec, "block=256x208x64,warpgroup=128x208,schedule=overlapped,stages=3") == 0);  // two, and no room
    CHECK(stages(spec, "block=128x256x64,warpgroup=64x256,stages=4,store=smem") == 0);
    CHECK(stages(square(4096), cooperative) == 0);
    GemmSpec wide = spec;
    wide.c = wide.d = DataType::f32;
    CHECK(stages(wide, "block=128x104x64,warpgroup=64x104,stages=4") == 4);
    CHECK(stages(wide, "block=128x104x64,warpgroup=128x104,schedule=pingpong,stages=5") == 4);
    CHECK(stages(wide, "block=128x104x64,warpgroup=128x104,schedule=pingpong,stages=4") == 0);  // and one for a k-tile
    GemmSpec other = spec;
    other.c = DataType::f32;
    CHECK(stages(other, cooperative) == 0);
    GemmSpec unaligned = spec;
    unaligned.align_c = 8;
    CHECK(stages(unaligned, cooperative) == 0);

    const auto argument = [](const GemmSpec& of, std::string_view parameters) {
        const std::vector<KernelEntry> entries =
            WgmmaWarpSpecialized::entries(problem_of(of).signature, config_with(parameters));
        for (const KernelArgument& candidate : entries.back().arguments)
            if (role_of(candidate) == ArgumentRole::c) return candidate;
        FAIL("no C");
        return KernelArgument{};
    };
    const KernelArgument by_tma = argument(spec, cooperative);
    REQUIRE(std::holds_alternative<TensorMapArgument>(by_tma));
    CHECK(std::get<TensorMapArgument>(by_tma).dimensions == box_of_matrix({64, 128}));
    CHECK(std::holds_alternative<PointerArgument>(argument(other, cooperative)));
}

TEST_CASE("wgmma: a C of one row leaves the ring to the operands, and is read where it lies") {
    GemmSpec spec = square(4096);
    spec.c = DataType::f32;
    const char* const cooperative = "block=128x256x64,warpgroup=64x256,stages=4,broadcast_c=1";
    CHECK_THAT(violations(square(4096), cooperative), ContainsSubstring("broadcast_c: this problem has no C"));
    CHECK_THAT(violations(spec, cooperative), ContainsSubstring("broadcast_c: C is not one row in this problem"));
    spec.broadcast_c = true;
    CHECK(violations(spec, cooperative).empty());
    for (const char* store : {"tma", "smem"}) {
        const Config config = config_with(std::string(cooperative) + ",store=" + store);
        const WgmmaGeometry g = geometry(problem_of(spec).signature, config);
        CHECK(g.c_stages == 0);
        CHECK(g.staged_bytes == 2);
        const std::vector<KernelEntry> entries = WgmmaWarpSpecialized::entries(problem_of(spec).signature, config);
        for (const KernelArgument& argument : entries.back().arguments) {
            CHECK(role_of(argument) != ArgumentRole::ldc);
            if (role_of(argument) == ArgumentRole::c) CHECK(std::holds_alternative<PointerArgument>(argument));
        }
    }
    const KernelConfig chosen = choose_config(problem_of(spec), find_gpu("h200"));
    REQUIRE(family_name(chosen) == "wgmma_warp_specialized");
    CHECK_THAT(kernel_name(problem_of(spec), chosen), ContainsSubstring("_broadcastc"));
}

TEST_CASE("wgmma: an H200 gets it for large problems, aligned or not, other GPUs don't") {
    CHECK(family_name(choose_config(problem_of(square(4096)), find_gpu("h200"))) == "wgmma_warp_specialized");
    CHECK(family_name(choose_config(problem_of(square(4096)), find_gpu("a100"))) == "mma_multistage");
    CHECK(family_name(choose_config(problem_of(square(4097)), find_gpu("h200"))) == "wgmma_warp_specialized");
}
