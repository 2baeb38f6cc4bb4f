#include "generator/explain.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

GemmSpec sized(std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    return spec;
}

/// The default config: 128x128x32 in 4 warps of 64x64, 4 stages.
Explanation explain_default(const GemmSpec& spec, const std::string& gpu) {
    Selection selection;
    selection.kernel = kernel_name(problem_of(spec), {});
    return explain(problem_of(spec), find_gpu(gpu), selection);
}

std::set<std::string> differing(const Alternative& alternative) {
    std::set<std::string> names;
    for (const ParameterDifference& difference : alternative.differs) names.insert(difference.name);
    return names;
}

}  // namespace

TEST_CASE("roofline of a square product and of a thin one, by hand") {
    const Roofline square = roofline(resolved(sized(4096, 4096, 4096)), find_gpu("h200"));
    CHECK(square.flops == 137438953472.0);
    CHECK(square.bytes == 100663296.0);  // three matrices of 32 MiB
    CHECK(square.intensity == Approx(4096.0 / 3));
    CHECK(square.peak_flops == Approx(2729.0 * 132 * 1755e6));
    CHECK(square.ridge == Approx(2729.0 * 132 * 1755e6 / 4.8e12));
    CHECK_FALSE(square.bound_by_dram());
    CHECK(square.attainable_flops == square.peak_flops);
    CHECK(square.least_microseconds == Approx(217.40).epsilon(1e-4));

    const Roofline thin = roofline(resolved(sized(16, 4096, 4096)), find_gpu("a100"));
    CHECK(thin.bytes == 16 * 4096 * 2 + 4096 * 4096 * 2 + 16 * 4096 * 2);
    CHECK(thin.intensity == Approx(15.876).epsilon(1e-4));
    CHECK(thin.ridge == Approx(192.0).epsilon(1e-3));
    CHECK(thin.bound_by_dram());
    CHECK(thin.least_microseconds == Approx(33816576 / 1555e3));

    GemmSpec with_c = sized(256, 512, 0);
    with_c.c = with_c.d = DataType::f32;
    const Roofline empty = roofline(resolved(with_c), find_gpu("a100"));
    CHECK(empty.bytes == 2 * 256 * 512 * 4);  // C in, D out
    with_c.broadcast_c = true;
    CHECK(roofline(resolved(with_c), find_gpu("a100")).bytes == 256 * 512 * 4 + 512 * 4);
    with_c.d_order = Order::column;
    CHECK(roofline(resolved(with_c), find_gpu("a100")).bytes == 256 * 512 * 4 + 256 * 4);
    CHECK(empty.attainable_flops == 0);
}

TEST_CASE("occupancy by hand: each resource can be the limit") {
    const Arch& a100 = find_arch("sm_80");  // 64 K registers, 164 KB, 2048 threads, 32 blocks
    const Occupancy both = occupancy({.threads = 256, .registers = 255, .shared_bytes = 98304}, a100);
    CHECK(both.by_registers == 1);  // 256 · 256 is all there are
    CHECK(both.by_shared == 1);     // 97 of 164 KB
    CHECK(both.limits() == std::vector<std::string>{"registers", "shared memory"});

    const Occupancy small = occupancy({.threads = 32, .registers = 16, .shared_bytes = 0}, a100);
    CHECK(small.by_registers == 128);
    CHECK(small.by_threads == 64);
    CHECK(small.blocks() == 32);
    CHECK(small.limits() == std::vector<std::string>{"block slots"});

    const Occupancy wide = occupancy({.threads = 1024, .registers = 32, .shared_bytes = 1024}, a100);
    CHECK(wide.limits() == std::vector<std::string>{"registers", "threads"});
    CHECK(occupancy({.threads = 128, .registers = 97, .shared_bytes = 0}, a100).by_registers == 4);  // 97 counts as 104
    CHECK(occupancy({.threads = 64, .registers = 32, .shared_bytes = 200000}, a100).blocks() == 0);
    CHECK(occupancy({}, a100).blocks() == 0);
}

TEST_CASE("waves and the last one, by hand") {
    const WaveBreakdown tail = wave_breakdown(133, 1, 132);
    CHECK(tail.full_waves == 1);
    CHECK(tail.last_blocks == 1);
    CHECK(tail.idle_sms == 131);
    CHECK(tail.efficiency == Approx(133.0 / 264));

    const WaveBreakdown even = wave_breakdown(528, 2, 132);
    CHECK(even.waves == 2);
    CHECK(even.last_blocks == 0);
    CHECK(even.idle_sms == 0);
    CHECK(even.efficiency == 1);

    const WaveBreakdown half = wave_breakdown(200, 2, 132);  // more than SMs, fewer than slots: all SMs have one
    CHECK(half.full_waves == 0);
    CHECK(half.last_blocks == 200);
    CHECK(half.idle_sms == 0);

    CHECK(wave_breakdown(0, 2, 132).waves == 0);
    CHECK(wave_breakdown(10, 0, 132).waves == 0);
}

TEST_CASE("the default kernel on an H200: registers, shared memory, blocks and waves by hand") {
    const Explanation e = explain_default(sized(4096, 4096, 4096), "h200");
    CHECK(e.forced);
    CHECK(e.anatomy.threads() == 128);
    CHECK(e.anatomy.registers() == 128 + 2 * (64 + 64) / 4 + 46);  // sums, two k-blocks of fragments, the rest
    CHECK(e.anatomy.stage_bytes == 2 * 128 * 64);
    CHECK(e.anatomy.shared_bytes == 4 * 16384);
    CHECK(e.anatomy.epilogue_bytes == 4 * 16 * (64 + 8) * 2);
    CHECK(e.occupancy.by_registers == 2);  // 240 · 128 twice
    CHECK(e.occupancy.by_shared == 3);     // 65 of 228 KB
    CHECK(e.occupancy.by_threads == 16);
    CHECK(e.occupancy.limits() == std::vector<std::string>{"registers"});
    CHECK(e.waves.blocks == 32 * 32);
    CHECK(e.waves.slots == 264);
    CHECK(e.waves.full_waves == 3);
    CHECK(e.waves.last_blocks == 232);
    CHECK(e.waves.idle_sms == 0);
    CHECK(e.cost.waves == Approx(e.waves.waves));
    CHECK(e.cost.math_unit_us == Approx(e.roofline.least_microseconds));  // whole tiles: nothing is padded
    CHECK(e.share_of_peak == Approx(e.roofline.least_microseconds / e.cost.total_us));
    CHECK(e.bound ==
          Bound::shared_memory);  // 48 KB per k-tile at some 120 bytes per cycle: 410 cycles, 384 of the tensor cores

    REQUIRE(e.anatomy.operands.size() == 2);
    const OperandPath& b = e.anatomy.operands[1];
    CHECK(b.ldmatrix == LdmatrixChoice{.x = 4, .trans = false, .matrices = 16, .instructions = 4});
    CHECK_THAT(b.width_reason, ContainsSubstring("64x16 (n x k) are 16 matrices"));
    CHECK_THAT(b.place, ContainsSubstring("within 64 bytes"));
    CHECK(e.anatomy.accesses.size() == 6);
}

TEST_CASE("measured registers replace the estimate in occupancy and waves, not in the prediction") {
    const Explanation estimated = explain_default(sized(4096, 4096, 4096), "h200");
    CHECK_FALSE(estimated.measured);
    const Explanation measured = with_registers(estimated, {128, 0, "a test"});
    CHECK(measured.measured->source == "a test");
    CHECK(measured.occupancy.by_registers == 4);
    CHECK(measured.occupancy.limits() == std::vector<std::string>{"shared memory"});
    CHECK(measured.waves.slots == 3 * 132);
    CHECK(measured.cost.blocks_per_sm == 2);
    CHECK(measured.cost.total_us == estimated.cost.total_us);
}

TEST_CASE("split-K multiplies the blocks, and partial tiles cost tensor time for nothing") {
    GemmSpec spec = sized(130, 100, 8192);
    Selection selection;
    MmaMultistageConfig split;
    split.split_k = 8;
    selection.kernel = kernel_name(problem_of(spec), {split});
    const Explanation e = explain(problem_of(spec), find_gpu("a100"), selection);
    CHECK(e.waves.blocks == 2 * 1 * 8);
    CHECK(e.waves.idle_sms == 108 - 16);
    CHECK(e.cost.math_unit_us == Approx(2.0 * 256 * 128 * 8192 / e.roofline.peak_flops * 1e6));
}

TEST_CASE("the blocks of a batch are those of all its problems, and those of groups are the ones expected") {
    struct Row {
        const char *text, *gpu, *family, *parameters;
        std::int64_t tiles_m, tiles_n, splits, problems;
    };
    constexpr const char *kMma = "mma_multistage", *kWgmma = "wgmma_warp_specialized";
    constexpr const char* kLarge = "block=128x128x64,warpgroup=64x128,cluster=1x1,swap_ab=0";
    constexpr Row kRows[] = {
        {"bf16 tt 17 17 17 batch=1000", "h200", kMma, "block=32x32x32,warp=32x32", 1, 1, 1, 1000},
        {"bf16 tn 130 100 8192 batch=7", "h200", kMma, "block=64x64x32,warp=32x32,split_k=4,reduction=cluster", 3, 2, 4,
         7},
        {"bf16 tn 130 100 64 batch=70000", "a100", kMma, "block=64x64x32,warp=32x32", 3, 2, 1, 70000},
        {"bf16 tn 130 300 64 batch=9 d-layout=n", "a100", kMma, "block=64x32x32,warp=32x32", 5, 5, 1, 9},
        {"f32 tt 300 200 64 batch=11", "h200", "simt_hierarchical", "block=128x128x8", 3, 2, 1, 11},
        {"bf16 tn 300 200 512 batch=11", "h200", kWgmma, kLarge, 3, 2, 1, 11},
        {"bf16 tn 4000 512 512 groups=10", "h200", kWgmma, kLarge, 4, 4, 1, 10},
        {"bf16 tn 4000 512 512 groups=10 expected-rows=70", "h200", kWgmma, kLarge, 1, 4, 1, 10},
        {"bf16 tn 5 512 512 groups=10", "h200", kWgmma, kLarge, 1, 4, 1, 5},
        {"bf16 nt 200 192 4096 groups=6 ragged=k", "h200", kWgmma, kLarge, 2, 2, 1, 6},
    };
    for (const Row& row : kRows) {
        INFO(row.text << ' ' << row.parameters);
        Selection selection;
        selection.family = row.family;
        selection.parameters = parse_parameters(row.parameters);
        const Explanation e = explain(problem_of(parse_shape_line(row.text)), find_gpu(row.gpu), selection);
        const std::int64_t blocks = row.tiles_m * row.tiles_n * row.splits * row.problems;
        CHECK(e.waves.blocks == blocks);
        CHECK(e.waves.waves == Approx(static_cast<double>(blocks) / static_cast<double>(e.waves.slots)));
    }
}

TEST_CASE("the choice is the heuristic's. Runners-up are slower and differ in more than trifles") {
    const std::set<std::string> trifles{"stages", "group", "ldsm_a", "ldsm_b", "double_buffer", "rasterization"};
    for (const auto& [m, n, k] : {std::tuple{4096, 4096, 4096}, {1001, 777, 333}, {128, 128, 65536}}) {
        const Explanation e = explain(problem_of(sized(m, n, k)), find_gpu("h200"));
        CHECK(e.config == choose_config(problem_of(sized(m, n, k)), find_gpu("h200")));
        CHECK_FALSE(e.forced);
        CHECK_FALSE(e.free_choice);
        REQUIRE(e.runners_up.size() == kRunnersUp);
        double before = e.cost.total_us;
        for (const Alternative& alternative : e.runners_up) {
            CHECK(alternative.cost.total_us >= before);
            before = alternative.cost.total_us;
            CHECK_FALSE(std::ranges::includes(trifles, differing(alternative)));
        }
    }
}

TEST_CASE("rejected candidates are counted by rule, with one of them and its numbers") {
    const GemmSpec spec = sized(4096, 4096, 4096);
    const Explanation e = explain(problem_of(spec), find_gpu("rtx4090"));
    const CandidateList list = list_candidates(problem_of(spec), find_gpu("rtx4090"));
    CHECK(e.accepted_count == list.accepted.size());
    CHECK(e.rejected_count == list.rejected.size());
    std::size_t too_large = 0;
    for (const RejectedCandidate& rejected : list.rejected)
        too_large += static_cast<std::size_t>(std::ranges::count_if(rejected.reasons, [](const std::string& reason) {
            return reason.find("bytes of shared memory") != std::string::npos;
        }));
    REQUIRE(too_large > 10);
    const auto group = std::ranges::find_if(e.rejections, [](const RejectionGroup& candidate) {
        return candidate.reason.find("bytes of shared memory") != std::string::npos;
    });
    REQUIRE(group != e.rejections.end());
    CHECK(group->count == too_large);
    CHECK_THAT(group->reason, ContainsSubstring("sm_89 has 101376"));
    CHECK_FALSE(group->differs.empty());
    CHECK(std::ranges::is_sorted(e.rejections, std::greater<>(), &RejectionGroup::count));
}

TEST_CASE("a selection is explained beside the free choice") {
    const GemmSpec spec = sized(4096, 4096, 4096);
    const KernelConfig best = choose_config(problem_of(spec), find_gpu("h200"));
    const Explanation forced = explain_default(spec, "h200");
    REQUIRE(forced.free_choice);
    CHECK(forced.free_choice->config == best);
    CHECK(forced.free_choice->cost.total_us < forced.cost.total_us);
    CHECK(differing(*forced.free_choice).contains("block"));

    Selection padded;
    padded.parameters = {{"shared", "padding"}, {"block", "128x128x32"}, {"warp", "64x64"}};
    const Explanation lesson = explain(problem_of(spec), find_gpu("a100"), padded);
    CHECK(std::get<MmaMultistageConfig>(lesson.config.family).shared_layout == SharedLayout::padding);
    CHECK(mainloop_slowdown(lesson.anatomy.accesses) > 1);
    CHECK_THAT(lesson.anatomy.accesses.front().reason, ContainsSubstring("rows of 64 bytes lie 80 apart"));
    REQUIRE(lesson.free_choice);
    CHECK(differing(*lesson.free_choice).contains("shared"));
}

TEST_CASE("a column-major D is explained as the kernel sees it") {
    GemmSpec spec = sized(1024, 256, 512);
    spec.d_order = Order::column;
    const Explanation e = explain(problem_of(spec), find_gpu("h200"));
    CHECK(e.problem.transposed);
    CHECK(e.problem.row_major().m == 256);
    CHECK(e.problem.row_major().n == 1024);
    CHECK(e.config == choose_config(problem_of(spec), find_gpu("h200")));
}

TEST_CASE("what a prediction is bound by") {
    const auto bound = [](double tensor, double shared, double l2, double dram, double sms, double overhead) {
        CostEstimate cost;
        cost.math_unit_us = tensor;
        cost.shared_us = shared;
        cost.l2_us = l2;
        cost.dram_us = dram;
        cost.math_us = sms;
        cost.overhead_us = overhead;
        cost.total_us = overhead + std::max({sms, l2, dram});
        return bound_of(cost);
    };
    CHECK(bound(10, 5, 4, 3, 12, 1) == Bound::math_unit);
    CHECK(bound(5, 10, 4, 3, 12, 1) == Bound::shared_memory);
    CHECK(bound(5, 4, 10, 3, 12, 1) == Bound::l2);
    CHECK(bound(5, 4, 3, 10, 9, 1) == Bound::dram);
    CHECK(bound(2, 1, 1, 1, 5, 1) == Bound::latency);
    CHECK(bound(2, 1, 1, 1, 3, 3) == Bound::launch);
    CHECK(to_string(Bound::shared_memory, MathUnit::tensor_cores) == "shared memory");
    CHECK(to_string(Bound::math_unit, MathUnit::fp32_cores) == "FP32 cores");
    CHECK(to_string(Bound::l1, MathUnit::fp32_cores) == "L1");
    CHECK(to_string(Bound::launch, MathUnit::fp32_cores) == "launch");
}

TEST_CASE("empty problems are explained, unsupported ones refused with every reason") {
    for (const auto& [m, n, k] : {std::tuple{0, 64, 64}, {64, 0, 64}, {64, 64, 0}}) {
        const Explanation e = explain(problem_of(sized(m, n, k)), find_gpu("a100"));
        CHECK(e.roofline.flops == 0);
        CHECK(e.share_of_attainable == 0);
        CHECK((e.waves.blocks == 0) == (m * n == 0));
    }
    GemmSpec unserved = gemm_spec_of_type(DataType::tf32);
    unserved.m = unserved.n = unserved.k = 64;
    CHECK_THROWS_WITH(explain(problem_of(unserved), find_gpu("a100")), ContainsSubstring("tf32"));
    Selection impossible;
    impossible.parameters = {{"stages", "8"}, {"block", "256x256x64"}};
    CHECK_THROWS_AS(explain(problem_of(sized(512, 512, 512)), find_gpu("rtx4090"), impossible), ConfigError);
}
