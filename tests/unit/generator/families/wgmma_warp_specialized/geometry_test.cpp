/// Where a kernel of wgmma_warp_specialized has what: owners of elements, shared memory, the ring and what comes
/// through it.

#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <set>
#include <tuple>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Config = WgmmaWarpSpecializedConfig;

}  // namespace

TEST_CASE("wgmma: the variants that are tested are kernels, and their names read back") {
    std::vector<std::string_view> variants(kWgmmaVariants.begin(), kWgmmaVariants.end());
    variants.insert(variants.end(), kWgmmaRegisterVariants.begin(), kWgmmaRegisterVariants.end());
    variants.insert(variants.end(), kWgmmaFillingVariants.begin(), kWgmmaFillingVariants.end());
    for (const std::string_view variant : variants) {
        GemmSpec spec = square(512);
        spec.constant_a = spec.constant_b = true;
        CHECK(wgmma_violations(spec, variant).empty());
        const KernelId id{problem_of(square(512)).signature, {wgmma_config(variant)}};
        CHECK(parse_kernel_name(kernel_name(id)) == id);
        CHECK(kernel_name(id).size() < 110);
    }
}

// The anatomy has the cost of an ldmatrix, and the swizzle keeps its rows off each other's banks.
TEST_CASE("wgmma: fragments of A are loaded without bank conflicts, transposed where M is contiguous") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        const GemmSpec spec = resolved(spec_of(layout, 512, 512, 512));
        const KernelAnatomy anatomy = WgmmaWarpSpecialized::anatomy(
            problem_of(spec), wgmma_config("block=128x128x64,warpgroup=64x64,a_source=rmem"));
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
        geometry(problem_of(square(512)).signature, wgmma_config("block=128x176x64,warpgroup=64x176,stages=4"));
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
                                      wgmma_config("block=128x176x64,warpgroup=64x176,stages=4"));
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
        const Config config = wgmma_config(parameters);
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
                   problem_of(spec), wgmma_config("block=128x64x64,warpgroup=64x64,rasterization=column,stream_k=5"),
                   row, column)
            .block;
    };
    CHECK(block_of(0, 0) == 0);
    CHECK(block_of(128, 0) == 1);
    CHECK(block_of(256, 0) == 1);  // the second cluster's share ends with the third tile: one k-tile is left to nobody
    CHECK(block_of(384, 127) == 4);
}

TEST_CASE("wgmma: without a producer there are the warps that multiply alone, and no C in the ring") {
    const Config filling = wgmma_config("block=128x64x64,warpgroup=64x64,persistent=0,warp_specialized=0");
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

TEST_CASE("wgmma: C comes through the ring where it lies as D does and the ring has room, else the epilogue reads it") {
    GemmSpec spec = square(4096);
    spec.c = DataType::bf16;
    const auto stages = [](const GemmSpec& of, std::string_view parameters) {
        const GemmSignature signature = as_multiplied(problem_of(of).signature, wgmma_config(parameters).swap_ab);
        return geometry(signature, wgmma_config(parameters)).c_stages;
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
            WgmmaWarpSpecialized::entries(problem_of(of).signature, wgmma_config(parameters));
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

TEST_CASE("wgmma: an output beside D has slices and a map of its own") {
    const char* const text = "stages=4,slices=1,block=128x256x64,warpgroup=64x256";
    const auto with = [](std::string_view epilogue, const EpilogueLayout& layout = {}) {
        GemmSpec spec = square(4096);
        spec.epilogue = epilogue;
        if (layout != EpilogueLayout()) spec.epilogue = spec.epilogue.with("pre", layout);
        return problem_of(spec).signature;
    };
    const Config config = wgmma_config(text);
    const WgmmaGeometry alone = geometry(with("d = relu(acc)"), config);
    const WgmmaGeometry both = geometry(with("d = relu(acc); pre[m,n] = acc"), config);
    CHECK(both.staging_bytes == 2 * alone.staging_bytes);
    CHECK(both.slice_columns == 64);
    const WgmmaGeometry wide = geometry(with("pre: f32[m,n]; d = relu(acc); pre[m,n] = acc"), config);
    CHECK(wide.slice_columns == 32);  // 128 bytes of f32
    CHECK(wide.staging_bytes == 8 * 16 * 32 * (2 + 4));
    const auto is_map = [&](const GemmSignature& signature, const Config& of) {
        const auto entries = WgmmaWarpSpecialized::entries(signature, of);
        const auto found =
            std::ranges::find_if(entries.back().arguments, [](const auto& one) { return role_of(one).name == "pre"; });
        REQUIRE(found != entries.back().arguments.end());
        return std::holds_alternative<TensorMapArgument>(*found);
    };
    CHECK(is_map(with("d = relu(acc); pre[m,n] = acc"), config));
    CHECK_FALSE(is_map(with("d = relu(acc); pre[m,n] = acc", {.ld = 4098}), config));
    const Config turned = wgmma_config("swap_ab=1,block=128x64x64,warpgroup=64x64,stages=4");
    CHECK(is_map(with("d = relu(acc); pre[m,n] = acc"), turned));
    CHECK_FALSE(is_map(with("pre: f32[m,n]; d = relu(acc); pre[m,n] = acc"), turned));
}

TEST_CASE("wgmma: a C of one row leaves the ring to the operands, and is read where it lies") {
    GemmSpec spec = square(4096);
    spec.c = DataType::f32;
    const char* const cooperative = "block=128x256x64,warpgroup=64x256,stages=4,broadcast_c=1";
    CHECK_THAT(wgmma_violations(square(4096), cooperative), Says("broadcast_c", "no C"));
    CHECK_THAT(wgmma_violations(spec, cooperative), Says("broadcast_c", "not one row"));
    spec.broadcast_c = true;
    CHECK(wgmma_violations(spec, cooperative).empty());
    for (const char* store : {"tma", "smem"}) {
        const Config config = wgmma_config(std::string(cooperative) + ",store=" + store);
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
