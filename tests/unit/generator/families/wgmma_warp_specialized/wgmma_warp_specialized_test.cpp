/// The rules of wgmma_warp_specialized, and the arguments of its kernels.

#include "generator/base/packed_operand.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <fmt/format.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Config = WgmmaWarpSpecializedConfig;

}  // namespace

TEST_CASE("wgmma: what can't be is refused with its reason") {
    CHECK_THAT(wgmma_violations(square(512), "", "sm_80"), Says("needs", "sm_90a", "TMA", "sm_80"));
    GemmSpec wide = square(512);
    wide.lda = std::int64_t{1} << 39;
    CHECK_THAT(wgmma_violations(wide, ""), ContainsSubstring("TMA needs a pitch below"));
    CHECK_THAT(wgmma_violations(square(512), "block=96x128x64,warpgroup=96x128"),
               ContainsSubstring("the rows of a wgmma"));
    CHECK_THAT(wgmma_violations(square(512), "block=128x100x64,warpgroup=64x100"),
               ContainsSubstring("steps of a wgmma's n"));
    CHECK_THAT(wgmma_violations(square(512), "block=128x264x64,warpgroup=64x264"),
               ContainsSubstring("warpgroup_tile.n"));
    CHECK_THAT(wgmma_violations(square(512), "block=128x128x96,warpgroup=64x128"), ContainsSubstring("whole panels"));
    CHECK_THAT(wgmma_violations(square(512), "schedule=pingpong"), ContainsSubstring("whole block tiles"));
    CHECK_THAT(wgmma_violations(square(512), "schedule=overlapped"), ContainsSubstring("two halves"));
    CHECK_THAT(wgmma_violations(square(512), "block=64x256x64,warpgroup=64x64"),
               ContainsSubstring("4 consumer warpgroups"));
    CHECK_THAT(wgmma_violations(square(512), "block=256x256x64,warpgroup=128x256,stages=2"),
               ContainsSubstring("256 accumulators per thread"));
    CHECK_THAT(wgmma_violations(square(512), "stages=8"), ContainsSubstring("bytes of shared memory"));
    CHECK_THAT(wgmma_violations(square(512), "stages=1"), ContainsSubstring("stages = 1"));
    CHECK_THAT(wgmma_violations(square(512), "cluster=4x4"), ContainsSubstring("cluster = 4x4"));
    CHECK_THAT(wgmma_violations(square(512), "block=64x24x64,warpgroup=64x24,cluster=16x1"), Says("24", "panels"));
    for (const char* shared :
         {"block=64x24x64,warpgroup=64x24,cluster=4x1", "block=128x72x64,warpgroup=64x72,cluster=4x2"})
        CHECK(wgmma_violations(square(512), shared).empty());
    CHECK_THAT(wgmma_violations(with_tma_pitches(spec_of(GemmLayout::tn, 512, 500, 512)), ""),
               ContainsSubstring("store = tma"));
    CHECK(wgmma_violations(with_tma_pitches(spec_of(GemmLayout::tn, 512, 500, 512)), "store=smem").empty());
    // 32 columns begin in the middle of a panel of B, which holds N contiguous.
    CHECK_THAT(wgmma_violations(spec_of(GemmLayout::tt, 512, 512, 512), "block=64x96x64,warpgroup=64x32"),
               Says("B", "64", "elements"));
    CHECK(wgmma_violations(square(512), "block=64x96x64,warpgroup=64x32").empty());
}

TEST_CASE("wgmma: A from registers takes whole turns of fragments, and the registers that they lie in") {
    const std::string_view wide = "block=128x176x64,warpgroup=128x176,schedule=pingpong,stages=3";
    CHECK(wgmma_violations(square(512), wide).empty());
    CHECK_THAT(wgmma_violations(square(512), fmt::format("{},a_source=rmem", wide)),
               Says("176", "16", "registers", "A", "56"));
    CHECK(wgmma_violations(square(512), "block=128x160x64,warpgroup=128x160,schedule=pingpong,stages=3,a_source=rmem")
              .empty());
    CHECK_THAT(
        wgmma_violations(square(512),
                         "block=128x160x64,warpgroup=128x160,schedule=pingpong,stages=3,stream_k=7,a_source=rmem"),
        ContainsSubstring("about 64 other registers"));
    CHECK_THAT(wgmma_violations(square(512), "block=192x64x64,warpgroup=64x64,stages=3,stream_k=7,a_source=rmem"),
               Says("stream_k", "3", "registers"));
    CHECK_THAT(
        wgmma_violations(spec_of(GemmLayout::nt, 512, 512, 512), "block=128x64x96,warpgroup=64x64,a_source=rmem"),
        Says("fragments", "A", "64", "K", "block_tile.k = 96"));
    CHECK(kernel_name(problem_of(square(512)),
                      {wgmma_config("block=128x64x64,warpgroup=64x64,a_source=rmem,dependent_launch=1")}) ==
          "wgmma_bf16_tn_128x64x64_stages4_a-rmem");
}

TEST_CASE("wgmma: stream-K and swap_ab are refused where they can't be") {
    CHECK_THAT(wgmma_violations(square(512), "stream_k=7,cluster=2x1"), Says("stream_k = 7", "clusters", "2x1"));
    const GemmSpec few = spec_of(GemmLayout::tn, 256, 1024, 640);  // 8 tiles of 10 k-tiles
    const std::string overlapped = "block=256x128x64,warpgroup=128x128,schedule=overlapped,stages=4,stream_k=";
    CHECK_THAT(wgmma_violations(few, overlapped + "41"), Says("stream_k = 41", "80", "2", "at least"));
    CHECK(wgmma_violations(few, overlapped + "40").empty());
    CHECK_THAT(wgmma_violations(square(512), "stream_k=2000"), Says("stream_k = 2000", "outside", "1", "1024"));
    const std::string_view swapped = "block=128x64x64,warpgroup=64x64,swap_ab=1";
    CHECK(wgmma_violations(square(512), swapped).empty());
    GemmSpec spec = square(512);
    spec.d = DataType::f32;
    CHECK_THAT(wgmma_violations(spec, swapped), Says("swap_ab", "stores", "D", "16", "f32"));
    spec = square(512);
    spec.c = DataType::bf16;
    CHECK_THAT(wgmma_violations(spec, swapped), Says("swap_ab", "C", "row"));
    spec.broadcast_c = true;
    CHECK(wgmma_violations(spec, "block=128x64x64,warpgroup=64x64,swap_ab=1,broadcast_c=1").empty());
    spec = spec_of(GemmLayout::tn, 512, 512, 511);
    CHECK(wgmma_violations(spec, swapped).empty());  // A is packed
    CHECK_THAT(wgmma_violations(square(512), "block=128x64x64,warpgroup=64x64,swap_ab=1,store=smem"),
               Says("swap_ab", "store = tma"));
}

TEST_CASE("wgmma: blocks that aren't persistent are as many as the tiles, and of no schedule that wants a next tile") {
    const Config one_tile = wgmma_config("block=128x64x64,warpgroup=64x64,persistent=0");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 2000, 1000, 512));
    REQUIRE(WgmmaWarpSpecialized::violations(problem_of(spec), one_tile, find_arch("sm_90a")).empty());
    const KernelEntry gemm = WgmmaWarpSpecialized::entries(problem_of(spec).signature, one_tile).back();
    CHECK_FALSE(needs_sm_count(gemm.grid));
    CHECK(block_count(gemm.grid, spec) == 16 * 16);
    CHECK(generate(problem_of(spec), {one_tile}, find_arch("sm_90a")).body.find("has_tile") == std::string::npos);
    CHECK_THAT(wgmma_violations(square(512), "block=64x64x64,warpgroup=64x64,schedule=pingpong,persistent=0"),
               Says("persistent = 0", "schedule = pingpong"));
    CHECK_THAT(wgmma_violations(square(512), "block=128x64x64,warpgroup=128x64,schedule=overlapped,persistent=0"),
               Says("persistent = 0", "schedule = overlapped"));
    CHECK_THAT(wgmma_violations(square(512), "block=64x64x64,warpgroup=64x64,stream_k=12,persistent=0"),
               Says("persistent = 0", "stream_k = 12", "several"));
}

TEST_CASE("wgmma: without a producer blocks have one tile, A in shared memory, and fetch nothing early") {
    CHECK(wgmma_violations(square(512), "block=128x64x64,warpgroup=64x64,persistent=0,warp_specialized=0").empty());
    CHECK_THAT(wgmma_violations(square(512), "block=128x64x64,warpgroup=64x64,persistent=0,cluster=2x2"),
               Says("cluster", "1x1", "2x2"));
    CHECK_THAT(wgmma_violations(square(512), "block=64x64x64,warpgroup=64x64,warp_specialized=0"),
               Says("warp_specialized = 0", "persistent = 0", "copies"));
    const auto without_producer = [](std::string_view parameters) {
        return wgmma_violations(square(512), std::string(parameters) + ",persistent=0,warp_specialized=0");
    };
    CHECK_THAT(without_producer("block=64x64x64,warpgroup=64x64,schedule=pingpong"),
               Says("warp_specialized = 0", "schedule = pingpong"));
    CHECK_THAT(without_producer("block=128x64x64,warpgroup=128x64,schedule=overlapped"),
               Says("warp_specialized = 0", "schedule = overlapped"));
    CHECK_THAT(without_producer("block=64x64x64,warpgroup=64x64,stream_k=12"),
               Says("warp_specialized = 0", "stream_k = 12"));
    CHECK_THAT(without_producer("block=64x64x64,warpgroup=64x64,a_source=rmem"),
               Says("warp_specialized = 0", "a_source = smem"));
    GemmSpec spec = square(512);
    spec.constant_b = true;
    CHECK_THAT(wgmma_violations(
                   spec, "block=64x64x64,warpgroup=64x64,dependent_launch=1,early=b,persistent=0,warp_specialized=0"),
               ContainsSubstring("early must be none"));
}

// The choice asks what a candidate costs before it asks whether it can be.
TEST_CASE("wgmma: constant operands are fetched early, unless the launch itself packs them or nothing is waited for") {
    const GpuModel& gpu = find_gpu("h200");
    const auto chosen = [&](const GemmSpec& spec, const ParameterMap& parameters = {}) {
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
    CHECK_THROWS_WITH(chosen(spec, {{"early", "b"}}), Says("early", "B", "packs"));
    spec.ldb = 0;
    CHECK_THROWS_WITH(chosen(spec, {{"early", "ab"}, {"swap_ab", "0"}}), Says("early", "A", "constant"));
    CHECK_THROWS_WITH(chosen(spec, {{"early", "b"}, {"swap_ab", "1"}}), Says("early", "A", "constant"));
    CHECK_THROWS_WITH(chosen(spec, {{"early", "b"}, {"dependent_launch", "0"}}),
                      Says("early", "without", "dependent_launch"));
    CHECK_THROWS_WITH(chosen(spec, {{"early", "c"}}), Says("'c'", "none", "ab"));
    spec.m = spec.n = spec.k = 8192;  // of a launch of a millisecond it is nothing
    CHECK_FALSE((chosen(spec).early_a || chosen(spec).early_b));
}

TEST_CASE("wgmma: what TMA can't address is packed, A first, and stream-K's sums lie behind it") {
    const std::string parameters = "block=128x64x64,warpgroup=64x64,stages=3,store=smem,stream_k=6";
    const auto entries_of = [&](const GemmSpec& spec) {
        return WgmmaWarpSpecialized::entries(problem_of(spec).signature, wgmma_config(parameters));
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
    CHECK(WgmmaWarpSpecialized::workspace_bytes(problem_of(both), wgmma_config(parameters)) ==
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
    const KernelConfig config{wgmma_config("block=128x64x64,warpgroup=64x64,swap_ab=1")};
    const std::string text = host_main(generate(problem_of(spec), config, find_arch("sm_90a")), problem_of(spec));
    CHECK_THAT(text, ContainsSubstring("args.m = kN;") && ContainsSubstring("args.n = kM;"));
    CHECK_THAT(
        text, ContainsSubstring("encode_tensor_map(&args.map_a, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (CUdeviceptr)b,"));
    CHECK_THAT(
        text, ContainsSubstring("encode_tensor_map(&args.map_b, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (CUdeviceptr)a,"));
}
