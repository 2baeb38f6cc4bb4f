/// Specs with groups of rows and of K: their rules, text, kernels' names and grids, and how rows are divided.

#include "generator/base/grid_rule.hpp"
#include "generator/base/operand.hpp"
#include "generator/base/problem.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/shared/expected_problem.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/verify/group_sizes.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec groups_of(std::int64_t groups, GemmSpec spec = spec_of(GemmLayout::tn, 480, 40, 64)) {
    spec.groups = groups;
    return spec;
}

std::string refusal(const GemmSpec& spec) { return fmt::format("{}", fmt::join(problems(spec), "; ")); }

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("groups: B has a matrix for each, A and D have one") {
    GemmSpec spec = groups_of(3);
    spec.ldb = 72;
    const GemmSpec whole = resolved(spec);
    CHECK(whole.batch_stride_b == 40 * 72);
    CHECK(whole.batch_stride_a == kPackedBatch);
    CHECK(whole.batch_stride_d == kPackedBatch);
    const OperandExtents extents = operand_extents(whole);
    CHECK(extents.a == 480 * 64);
    CHECK(extents.b == 2 * 40 * 72 + 39 * 72 + 64);
    CHECK(extents.d == 480 * 40);
    CHECK(flops(whole) == 2.0 * 480 * 40 * 64);
    const OperandList list = gemm_operands(whole);
    REQUIRE(list.find("offsets") != nullptr);
    CHECK(list.find("offsets")->extent() == 3);
    CHECK(list.find("offsets")->type == DataType::s32);
    CHECK(gemm_operands(spec_of(GemmLayout::tn, 8, 8, 8)).find("offsets") == nullptr);
}

TEST_CASE("groups: the text names them, and reads back") {
    GemmSpec spec = resolved(groups_of(12));
    spec.batch_stride_b = 0;
    CHECK(mentions(to_string(spec), "gemm-v7 "));
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    CHECK(shape_line(spec) == "bf16 tn 480 40 64 groups=12");
    CHECK(parse_shape_line(shape_line(spec)).groups == 12);
    CHECK_FALSE(mentions(to_string(resolved(groups_of(0))), "groups"));
    CHECK_THROWS_AS(parse_gemm_spec("gemm-v6 m=8 n=8 k=8 groups=2"), SpecError);
}

TEST_CASE("groups: the rules name the value") {
    CHECK(mentions(refusal(groups_of(-1)), "groups is -1"));
    CHECK(mentions(refusal(groups_of(1025)), "groups is 1025"));
    CHECK(refusal(groups_of(1024)).empty());
    GemmSpec spec = groups_of(3);
    spec.batch = 2;
    CHECK(mentions(refusal(spec), "groups is 3 and batch is 2"));
    spec = groups_of(3);
    spec.d_order = Order::column;
    CHECK(mentions(refusal(spec), "D is column-major"));
    spec = groups_of(3);
    spec.batch_stride_a = 64;
    CHECK(mentions(refusal(spec), "batch_stride_a is 64"));
    for (const char* text : {"d = acc + x[b,m,n]", "d = acc + x[b,m]"}) {
        spec = groups_of(3);
        spec.epilogue = text;
        CHECK(mentions(refusal(spec), "m counts the rows of all groups"));
    }
    spec.epilogue = "d = acc + offsets[n]";
    CHECK(mentions(refusal(spec), "offsets"));
    spec = groups_of(3);
    spec.expected_rows = std::int64_t{1} << 62;
    CHECK(mentions(refusal(spec), "expected_rows is 4611686018427387904"));
    spec = groups_of(3);
    spec.epilogue = "d = acc + bias[b,n]";
    CHECK(refusal(spec).empty());
}

TEST_CASE("groups: one row or one column stays as it lies") {
    for (const auto& [m, n] : {std::pair{1, 8}, std::pair{8, 1}}) {
        const Problem problem = problem_of(groups_of(2, spec_of(GemmLayout::tn, m, n, 8)));
        CHECK_FALSE(problem.transposed);
        CHECK(problem.row_major() == problem.asked);
    }
}

TEST_CASE("groups: kernels have a name of their own, which reads back") {
    const Problem problem = problem_of(groups_of(12));
    const GpuModel& gpu = find_gpu("h200");
    const KernelId id{problem.signature, choose_config(problem, gpu)};
    CHECK(mentions(kernel_name(id), "_groups_"));
    CHECK(parse_kernel_name(kernel_name(id)) == id);
    const Problem more = problem_of(groups_of(900, spec_of(GemmLayout::tn, 7, 40, 64)));
    CHECK(more.signature == problem.signature);  // one kernel serves any number of groups
}

TEST_CASE("groups: there are blocks for every division of the rows") {
    const GridRule rule{.tile_m = 64, .tile_n = 64, .batch = GridBatch::tiles};
    for (const std::int64_t rows : {1, 5, 64, 100, 1000})
        for (const std::int64_t groups : {1, 2, 63, 64, 65, 700})
            for (const GroupSizes sizes : {GroupSizes::uniform, GroupSizes::random, GroupSizes::skewed}) {
                const GemmSpec spec = groups_of(groups, spec_of(GemmLayout::tn, rows, 100, 8));
                std::int64_t tiles = 0, before = 0;
                for (const std::int32_t end : group_ends(groups, rows, sizes, 3)) {
                    tiles += (end - before + 63) / 64 * 2;
                    before = end;
                }
                INFO(rows << " rows, " << groups << " groups, " << to_string(sizes));
                CHECK(block_count(rule, spec) >= tiles);
            }
}

TEST_CASE("groups: candidates are chosen for the rows that a group has on average") {
    const Problem expected = expected_problem(problem_of(groups_of(16)));
    CHECK(expected.row_major().batch == 16);
    CHECK(expected.row_major().m == 30);
    CHECK(expected_problem(problem_of(groups_of(900, spec_of(GemmLayout::tn, 7, 40, 64)))).row_major().batch == 7);
    const auto height = [&](std::int64_t rows) {
        const GemmSpec spec = groups_of(64, spec_of(GemmLayout::tn, 64 * rows, 4096, 4096));
        return choose_config(problem_of(spec), find_gpu("h200")).as<WgmmaWarpSpecializedConfig>().block.m;
    };
    CHECK(height(4) == 64);
    CHECK(height(2048) > 64);
}

TEST_CASE("groups: scales of blocks keep the pitch of all rows, whatever a group has") {
    const auto chosen = [](std::int64_t m, std::int64_t expected_rows) {
        GemmSpec spec = groups_of(16, spec_of(GemmLayout::tn, m, 4096, 4096, DataType::e4m3));
        spec.epilogue = "d = acc * sa[k/128,m] * sb[b,n/128,k/128]";
        spec.expected_rows = expected_rows;
        return choose_config(problem_of(spec), find_gpu("h200")).as<WgmmaWarpSpecializedConfig>();
    };
    CHECK(chosen(16000, 0).scales == ScaleSource::tma);
    CHECK(chosen(16000, 33).scales == ScaleSource::tma);
    CHECK(chosen(16001, 0).scales == ScaleSource::threads);
    CHECK(chosen(16001, 40).scales == ScaleSource::threads);
    CHECK(chosen(16000, 20).block.m == 64);
    for (const char* const scale : {"sa[m,k/128]", "sb[b,n/128,k/128]", "sb[n,k/128]"}) {
        GemmSpec spec = groups_of(16, spec_of(GemmLayout::tn, 2, 128, 640, DataType::e4m3));
        spec.epilogue = std::string("d = acc * ") + scale;
        CHECK(choose_config(problem_of(spec), find_gpu("h200")).as<WgmmaWarpSpecializedConfig>().scales ==
              ScaleSource::threads);
    }
}

TEST_CASE("groups: the table of their ends takes the room of no stage") {
    const Problem problem = problem_of(groups_of(4, spec_of(GemmLayout::tn, 16384, 4096, 4096)));
    int most = 0;
    for (const KernelConfig& config : find_family("wgmma_warp_specialized").candidates(problem, find_gpu("h200"))) {
        const auto& own = config.as<WgmmaWarpSpecializedConfig>();
        if (own.block == TileShape{128, 128, 64}) most = std::max(most, own.stages);
    }
    CHECK(most == 5);
}

TEST_CASE("groups: rows are divided evenly, at random with empty groups, or by Zipf's law") {
    for (const GroupSizes sizes : {GroupSizes::uniform, GroupSizes::random, GroupSizes::skewed}) {
        CHECK(parse_group_sizes(to_string(sizes)) == sizes);
        for (const std::int64_t groups : {1, 7, 128}) {
            const std::vector<std::int32_t> ends = group_ends(groups, 10000, sizes, 5);
            CHECK(ends.size() == static_cast<std::size_t>(groups));
            CHECK(ends.back() == 10000);
            CHECK(std::ranges::is_sorted(ends));
            CHECK(group_ends(groups, 10000, sizes, 5) == ends);
            CHECK(offsets_problem(ends, groups_of(groups, spec_of(GemmLayout::tn, 10000, 8, 8))).empty());
        }
    }
    const auto sizes_of = [](GroupSizes sizes) {
        std::vector<std::int32_t> list = group_ends(100, 100000, sizes, 5);
        for (std::size_t i = list.size(); i-- > 1;) list[i] -= list[i - 1];
        std::ranges::sort(list);
        return list;
    };
    CHECK(sizes_of(GroupSizes::uniform).front() == 1000);
    CHECK(sizes_of(GroupSizes::uniform).back() == 1000);
    CHECK(std::ranges::count(sizes_of(GroupSizes::random), 0) > 15);
    const std::vector<std::int32_t> skewed = sizes_of(GroupSizes::skewed);
    CHECK(std::abs(skewed[99] - 2 * skewed[98]) < 10);
    CHECK(std::abs(skewed[99] - 10 * skewed[90]) < 30);
    CHECK_THROWS_WITH(parse_group_sizes("even"), Catch::Matchers::ContainsSubstring("even"));
}

TEST_CASE("groups: wrong ends are named") {
    const GemmSpec spec = groups_of(3);
    CHECK(offsets_problem({1, 0, 5}, spec) == "offsets[1] is 0, but the previous group ends at 1: ends must not fall");
    CHECK(mentions(offsets_problem({1, 2, 481}, spec), "offsets[2] is 481"));
    CHECK(mentions(offsets_problem({-1, 2, 3}, spec), "offsets[0] is -1"));
    CHECK(offsets_problem({0, 480, 480}, spec).empty());
}

// ---- groups of K ----------------------------------------------------------------------------------------------------

namespace {

GemmSpec groups_of_k(std::int64_t groups, GemmSpec spec = spec_of(GemmLayout::nt, 48, 40, 480)) {
    spec.groups = groups;
    spec.ragged = Ragged::k;
    return spec;
}

std::string reason_of_wgmma(const GemmSpec& spec) {
    const std::vector<std::string> reasons =
        find_family("wgmma_warp_specialized").unsupported(problem_of(spec), find_arch("sm_90a"));
    return reasons.empty() ? "" : reasons.front();
}

std::string chosen_or_reason(const GemmSpec& spec) {
    try {
        return kernel_name({problem_of(spec).signature, choose_config(problem_of(spec), find_gpu("h200"))});
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("groups of K: a batch of D, whose problems have parts of one A and one B") {
    const GemmSpec spec = resolved(groups_of_k(3));
    CHECK(spec.batch == 3);
    CHECK(spec.batch_stride_a == 0);
    CHECK(spec.batch_stride_b == 0);
    CHECK(spec.batch_stride_d == 48 * 40);
    CHECK(resolved(spec) == spec);
    const OperandExtents extents = operand_extents(spec);
    CHECK(extents.a == 480 * 48);
    CHECK(extents.b == 480 * 40);
    CHECK(extents.d == 3 * 48 * 40);
    CHECK(flops(spec) == 2.0 * 480 * 40 * 48);
    CHECK(flops(groups_of_k(3)) == flops(spec));
    const Problem expected = expected_problem(problem_of(spec));
    CHECK(expected.row_major().batch == 3);
    CHECK(expected.row_major().k == 160);
    CHECK(expected.row_major().batch_stride_a == 160 * 48);
    CHECK(expected.row_major().batch_stride_b == 160 * 40);
    GemmSpec turned = groups_of_k(3);
    turned.d_order = Order::column;
    const Problem problem = problem_of(turned);
    CHECK(problem.transposed);
    CHECK(problem.row_major().layout == GemmLayout::nt);
    CHECK(problem.signature.grouped_by_k);
}

TEST_CASE("groups of K: the text names them, and kernels have a name of their own") {
    const GemmSpec spec = resolved(groups_of_k(12));
    CHECK(mentions(to_string(spec), "gemm-v8 "));
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    CHECK(shape_line(spec) == "bf16 nt 48 40 480 groups=12 ragged=k");
    CHECK(resolved(parse_shape_line(shape_line(spec))) == spec);
    CHECK_FALSE(mentions(to_string(resolved(groups_of(12))), "ragged"));
    CHECK_THROWS_AS(parse_gemm_spec("gemm-v7 m=8 n=8 k=8 groups=2 ragged=k"), SpecError);
    const Problem problem = problem_of(spec);
    const KernelId id{problem.signature, choose_config(problem, find_gpu("h200"))};
    CHECK(mentions(kernel_name(id), "_kgroups_"));
    CHECK(parse_kernel_name(kernel_name(id)) == id);
    CHECK(problem_of(groups_of_k(900, spec_of(GemmLayout::nt, 48, 40, 7))).signature == problem.signature);
}

TEST_CASE("groups of K: the rules name the value") {
    GemmSpec spec = spec_of(GemmLayout::nt, 48, 40, 480);
    spec.ragged = Ragged::k;
    CHECK(mentions(refusal(spec), "ragged is k, but there are no groups"));
    CHECK(mentions(refusal(groups_of_k(1025)), "groups is 1025"));
    spec = groups_of_k(3);
    spec.group_rows = 5;
    CHECK(mentions(refusal(spec), "group_rows is 5, but ragged is k"));
    spec = groups_of_k(3);
    spec.batch = 2;
    CHECK(mentions(refusal(spec), "groups is 3 and batch is 2"));
    spec = groups_of_k(3);
    spec.batch_stride_b = 64;
    CHECK(mentions(refusal(spec), "batch_stride_b is 64, but ragged is k"));
    spec = groups_of_k(3);
    spec.epilogue = "d = acc + x[b,m,n]";
    CHECK(refusal(spec).empty());
    CHECK(mentions(reason_of_wgmma(groups_of_k(3, spec_of(GemmLayout::tn, 48, 40, 480))), "K is contiguous in A"));
    CHECK(mentions(reason_of_wgmma(groups_of_k(3, spec_of(GemmLayout::nn, 48, 40, 480))), "K is contiguous in B"));
    CHECK(mentions(reason_of_wgmma(groups_of_k(3, spec_of(GemmLayout::nt, 44, 40, 480))), "A is aligned to 8 bytes"));
    CHECK(mentions(chosen_or_reason(groups_of_k(3, spec_of(GemmLayout::nt, 48, 48, 480, DataType::e4m3))), "e4m3"));
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::tt})
        CHECK(mentions(chosen_or_reason(groups_of_k(3, spec_of(layout, 48, 40, 480))), "mma_multistage_"));
    CHECK(offsets_problem({1, 481, 481}, groups_of_k(3)) ==
          "offsets[1] is 481, but K is 480: no group may end behind it");
    CHECK(offsets_problem({1, 480, 480}, groups_of_k(3)).empty());
}

TEST_CASE("gathered rows: A has its own number of rows, and an index has one for each row of D") {
    GemmSpec spec = groups_of(3);
    spec.source_rows = 50;
    const GemmSpec whole = resolved(spec);
    const OperandList list = gemm_operands(whole);
    CHECK(operand_extents(whole).a == 50 * 64);
    CHECK(operand_extents(whole).d == 480 * 40);
    REQUIRE(list.find("row_index") != nullptr);
    CHECK(list.find("row_index")->extent() == 480);
    CHECK(list.find("row_index")->type == DataType::s32);
    CHECK(gemm_operands(groups_of(3)).find("row_index") == nullptr);
    CHECK(flops(whole) == flops(resolved(groups_of(3))));
    CHECK(operand_bytes(resolved(groups_of(3))) - operand_bytes(whole) == 430 * 64 * 2);
}

TEST_CASE("gathered rows: the text names them, and reads back") {
    GemmSpec spec = resolved(groups_of(12));
    spec.source_rows = 4096;
    CHECK(mentions(to_string(spec), "gemm-v8 "));
    CHECK(mentions(to_string(spec), " source-rows=4096"));
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    CHECK(shape_line(spec) == "bf16 tn 480 40 64 groups=12 source-rows=4096");
    CHECK(parse_shape_line(shape_line(spec)).source_rows == 4096);
    CHECK_THROWS_AS(parse_gemm_spec("gemm-v7 m=8 n=8 k=8 groups=2 source-rows=3"), SpecError);
}

TEST_CASE("gathered rows: the rules name the value") {
    GemmSpec spec = groups_of(3);
    spec.source_rows = -1;
    CHECK(mentions(refusal(spec), "source_rows is -1"));
    spec.source_rows = kLargestExtent + 1;
    CHECK(mentions(refusal(spec), "source_rows is 2147418112: it must be from 1 to 2147418111"));
    spec = spec_of(GemmLayout::tn, 480, 40, 64);
    spec.source_rows = 7;
    CHECK(mentions(refusal(spec), "source_rows is 7, but there are no groups"));
    spec = groups_of(3, spec_of(GemmLayout::nt, 480, 40, 64));
    spec.source_rows = 7;
    spec.ragged = Ragged::k;
    CHECK(mentions(refusal(spec), "source_rows is 7, but ragged is k"));
    spec = groups_of(3);
    spec.source_rows = 7;
    spec.epilogue = "d = acc + row_index[n]";
    CHECK(mentions(refusal(spec), "row_index"));
    spec = groups_of(3, spec_of(GemmLayout::tn, 480, 128, 256, DataType::e4m3));
    spec.source_rows = 7;
    spec.epilogue = "d = acc * sb[b,n/128,k/128]";
    CHECK(refusal(spec).empty());
    spec.epilogue = "d = acc * sa[k/128,m] * sb[b,n/128,k/128]";
    CHECK(mentions(refusal(spec), "sa has the index [k/128,m], but source_rows is 7"));
    spec.source_rows = 0;
    CHECK(refusal(spec).empty());
}

TEST_CASE("gathered rows: kernels have a name of their own, and no block shares rows of A") {
    GemmSpec spec = groups_of(12, spec_of(GemmLayout::tn, 4800, 512, 256));
    spec.source_rows = 100;
    const Problem problem = problem_of(spec);
    const GpuModel& gpu = find_gpu("h200");
    const KernelId id{problem.signature, choose_config(problem, gpu)};
    CHECK(mentions(kernel_name(id), "_gathered_"));
    CHECK(parse_kernel_name(kernel_name(id)) == id);
    spec.source_rows = 9000;
    CHECK(problem_of(spec).signature == problem.signature);  // one kernel serves any number of rows
    const auto violations = [&](TileShape cluster) {
        WgmmaWarpSpecializedConfig config = id.config.as<WgmmaWarpSpecializedConfig>();
        config.cluster = cluster;
        return fmt::format("{}",
                           fmt::join(WgmmaWarpSpecialized::violations(problem, config, find_arch("sm_90a")), "; "));
    };
    CHECK_FALSE(mentions(violations({2, 1, 1}), "gathered"));
    CHECK(
        mentions(violations({1, 2, 1}), "cluster = 1x2: blocks side by side don't share rows of A that are gathered"));
    spec.layout = GemmLayout::nn;
    CHECK_THROWS_WITH(choose_config(problem_of(spec), gpu), Says("A is column-major"));
}

TEST_CASE("gathered rows: a drawn index repeats rows, and names zeros where it may") {
    GemmSpec spec = groups_of(3);
    spec.source_rows = 20;
    const auto is_outside = [](std::int32_t row) { return row < 0 || row >= 20; };
    const std::vector<std::int32_t> with_zeros = row_index(spec, 3, true), without = row_index(spec, 3, false);
    CHECK(with_zeros.size() == 480);
    CHECK(std::ranges::count_if(with_zeros, is_outside) > 20);
    CHECK(std::ranges::count(with_zeros, -1) > 5);
    CHECK(std::ranges::count_if(without, is_outside) == 0);
    for (std::int32_t row = 0; row < 20; ++row) CHECK(std::ranges::count(without, row) > 5);
    CHECK(row_index(spec, 3, true) == with_zeros);
    CHECK(row_index(spec, 4, true) != with_zeros);
}
