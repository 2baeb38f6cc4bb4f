#include "generator/families/kernel_name.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <fmt/format.h>

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
    return fmt::format("{}", fmt::join(WgmmaWarpSpecialized::violations(with_row_major_d(resolved(spec)),
                                                                        config_with(parameters), find_arch(arch)),
                                       "; "));
}

GemmSpec square(std::int64_t size) { return spec_of(GemmLayout::tn, size, size, size); }

}  // namespace

TEST_CASE("wgmma: the variants that are tested are kernels, and their names read back") {
    for (const std::string_view variant : kWgmmaVariants) {
        CHECK(violations(square(512), variant).empty());
        const KernelId id{signature(square(512)), {config_with(variant)}};
        CHECK(parse_kernel_name(kernel_name(id)) == id);
        CHECK(kernel_name(id).size() < 110);
    }
}

TEST_CASE("wgmma: what can't be is refused with its reason") {
    CHECK_THAT(violations(square(512), "", "sm_80"), ContainsSubstring("needs sm_90a (wgmma, TMA), not sm_80"));
    CHECK_THAT(violations(square(510), ""), ContainsSubstring("A by TMA, which wants it aligned to 16 bytes, not 4"));
    GemmSpec wide = square(512);
    wide.lda = std::int64_t{1} << 39;
    CHECK_THAT(violations(wide, ""), ContainsSubstring("TMA reaches below"));
    CHECK_THAT(violations(square(512), "swizzle=48"), ContainsSubstring("swizzle = 48 is none of 32, 64, 128"));
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
    CHECK_THAT(violations(square(512), "block=64x24x64,warpgroup=64x24,cluster=2x1"),
               ContainsSubstring("not whole eights"));
    CHECK_THAT(violations(with_tma_pitches(spec_of(GemmLayout::tn, 512, 500, 512)), ""),
               ContainsSubstring("store = tma"));
    CHECK(violations(with_tma_pitches(spec_of(GemmLayout::tn, 512, 500, 512)), "store=reg").empty());
    // 32 columns begin in the middle of a panel of B, which holds N contiguous.
    CHECK_THAT(violations(spec_of(GemmLayout::tt, 512, 512, 512), "block=64x96x64,warpgroup=64x32"),
               ContainsSubstring("share B's panels of 64 elements"));
    CHECK(violations(square(512), "block=64x96x64,warpgroup=64x32").empty());
}

TEST_CASE("wgmma: rows of D that are no whole 16 bytes are not stored by TMA, which would write beyond them") {
    for (const std::int64_t n : {500, 504, 512}) {
        const GemmSpec spec = with_tma_pitches(spec_of(GemmLayout::tn, 512, n, 512));
        const KernelConfig chosen =
            choose_config(spec, find_gpu("h200"), {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = {}});
        CHECK((std::get<Config>(chosen.family).store == OutputStore::tma) == (n % 8 == 0));
    }
}

TEST_CASE("wgmma: shared memory is what the ring, the slices and the barriers take") {
    const WgmmaGeometry g = geometry(signature(square(512)), config_with("block=128x176x64,warpgroup=64x176,stages=4"));
    CHECK(g.consumers == 2);
    CHECK(g.threads == 384);
    CHECK(g.stage_bytes == (128 + 176) * 64 * 2);
    CHECK(g.slice_columns == 64);
    CHECK(g.rest_columns == 48);
    CHECK(g.staging_bytes == 8 * 2 * 16 * 64 * 2);
    CHECK(g.shared_bytes == 4 * g.stage_bytes + g.staging_bytes + 4 * 16);
    CHECK(g.accumulator_registers == 88);
    // MN-major: whole panels, though the tile's columns end within one.
    const WgmmaGeometry mn = geometry(signature(spec_of(GemmLayout::tt, 512, 512, 512)),
                                      config_with("block=128x176x64,warpgroup=64x176,stages=4"));
    CHECK(mn.b.bytes == 3 * 64 * 128);
    CHECK(mn.b.box == std::array{64, 64});
}

TEST_CASE("wgmma: every element of D has one owner") {
    for (const char* parameters :
         {"block=128x64x64,warpgroup=64x64,cluster=2x1", "block=64x80x64,warpgroup=64x80,schedule=pingpong",
          "block=64x64x64,warpgroup=64x32,rasterization=zigzag,group=2"}) {
        const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 200, 168, 64));
        std::set<std::tuple<std::int64_t, int, int, int>> owners;
        for (std::int64_t row = 0; row < spec.m; ++row)
            for (std::int64_t column = 0; column < spec.n; ++column) {
                const ElementOwner owner = WgmmaWarpSpecialized::owner(spec, config_with(parameters), row, column);
                REQUIRE(owners.emplace(owner.block, owner.warp, owner.lane, owner.accumulator_register).second);
            }
    }
}

TEST_CASE("wgmma: an H200 gets it for large aligned problems, other GPUs and odd pitches don't") {
    CHECK(family_name(choose_config(square(4096), find_gpu("h200"))) == "wgmma_warp_specialized");
    CHECK(family_name(choose_config(square(4096), find_gpu("a100"))) == "mma_multistage");
    CHECK(family_name(choose_config(square(4097), find_gpu("h200"))) == "mma_multistage");
}
