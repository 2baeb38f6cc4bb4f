/// Specs of batches: strides, their rules, the kernels' names and grids.

#include "generator/base/grid_rule.hpp"
#include "generator/base/operand.hpp"
#include "generator/base/problem.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/c_api/host_rows.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec batch_of(std::int64_t batch, GemmSpec spec = spec_of(GemmLayout::tn, 48, 40, 64)) {
    spec.batch = batch;
    return spec;
}

std::string refusal(const GemmSpec& spec) { return fmt::format("{}", fmt::join(problems(spec), "; ")); }

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("batches: packed matrices lie one behind the other") {
    GemmSpec spec = batch_of(3);
    spec.ldb = 72;
    spec.c = DataType::bf16;
    const GemmSpec whole = resolved(spec);
    CHECK(whole.batch_stride_a == 48 * 64);
    CHECK(whole.batch_stride_b == 40 * 72);
    CHECK(whole.batch_stride_c == 48 * 40);
    CHECK(whole.batch_stride_d == 48 * 40);
    const OperandExtents extents = operand_extents(whole);
    CHECK(extents.a == 3 * 48 * 64);
    CHECK(extents.b == 2 * 40 * 72 + 39 * 72 + 64);
    CHECK(flops(whole) == 3 * 2.0 * 48 * 40 * 64);
}

TEST_CASE("batches: a single problem has no strides, whatever was asked") {
    GemmSpec spec = batch_of(1);
    spec.batch_stride_a = 24;
    CHECK(resolved(spec) == resolved(spec_of(GemmLayout::tn, 48, 40, 64)));
}

TEST_CASE("batches: a shared matrix counts once, and one row of C serves all problems") {
    GemmSpec spec = batch_of(5);
    spec.batch_stride_b = 0;
    spec.c = DataType::bf16;
    spec.broadcast_c = true;
    const GemmSpec whole = resolved(spec);
    CHECK(operand_extents(whole).b == 40 * 64);
    CHECK(whole.batch_stride_c == 0);
    CHECK(operand_extents(whole).c == 40);
}

TEST_CASE("batches: the rules name the value") {
    CHECK(mentions(refusal(batch_of(-1)), "batch is -1"));
    CHECK(mentions(refusal(batch_of(std::int64_t{1} << 31)), "batch is 2147483648"));
    GemmSpec spec = batch_of(3);
    spec.batch_stride_b = -2;
    CHECK(mentions(refusal(spec), "batch_stride_b is -2"));
    spec = batch_of(3);
    spec.batch_stride_d = 48 * 40 - 1;
    CHECK(mentions(refusal(spec), "batch_stride_d is 1919: the matrices of D would overlap"));
    spec.batch_stride_d = 0;
    CHECK(mentions(refusal(spec), "overlap"));
    spec = batch_of(3);
    spec.batch_stride_a = 48 * 64 + 4;
    spec.align_a = 16;
    CHECK(mentions(refusal(spec), "align_a is 16: batch_stride_a is 3076 elements"));
    spec = batch_of(1 << 30);
    spec.batch_stride_a = std::int64_t{1} << 40;
    CHECK(mentions(refusal(spec), "batch_stride_a is 1099511627776"));
}

TEST_CASE("batches: an output beside D belongs to one problem") {
    GemmSpec spec = batch_of(2);
    spec.epilogue = "d = acc; pre[m,n] = acc";
    CHECK(mentions(refusal(spec), "would store one pre: its index must begin with b, as pre[b,m,n]"));
    spec.epilogue = "d = acc; r[n] = sum(acc)";
    CHECK(mentions(refusal(spec), "as r[b,n]"));
    spec.epilogue = EpilogueText("d = acc + bias[n]").with("bias", {.batch_stride = 40});
    CHECK(mentions(refusal(spec), "batch-stride-bias is 40, but the index of bias has no b"));
}

TEST_CASE("batches: texts whose values lie otherwise are not one") {
    const EpilogueText text = "d = acc + bias[b,n]";
    const EpilogueText packed = text.with("bias", {.batch_stride = 40}),
                       shared = text.with("bias", {.batch_stride = 0});
    CHECK(packed != shared);
    CHECK(packed.layout_of("bias").batch_stride == 40);
    CHECK(shared.layout_of("bias").batch_stride == 0);
    GemmSpec spec = batch_of(2);
    spec.epilogue = text.with("bias", {.batch_stride = -2});
    CHECK(mentions(refusal(spec), "batch-stride-bias is -2"));
    spec = batch_of(1);
    spec.epilogue = packed;
    const GemmSpec whole = resolved(spec);
    CHECK(whole.epilogue.layout_of("bias") == EpilogueLayout());
}

TEST_CASE("batches: outputs may lie side by side in each line, and inputs may overlap") {
    GemmSpec spec = batch_of(3);
    spec.ldd = 3 * 40;
    spec.batch_stride_d = 40;
    spec.batch_stride_a = 8;
    CHECK(refusal(spec).empty());
    spec.ldd = 3 * 40 - 8;
    CHECK(mentions(refusal(spec), "overlap"));
}

TEST_CASE("batches: a host's arrays are copied matrix by matrix, or all at once") {
    GemmSpec spec = batch_of(3);
    spec.ldd = 120;
    spec.batch_stride_d = 40;
    const GemmSpec whole = resolved(spec);
    const OperandList operands = gemm_operands(whole);
    const auto packed = c_api::rows_of(*operands.find("a")), apart = c_api::rows_of(*operands.find("d"));
    REQUIRE(packed.size() == 1);
    CHECK((packed[0].rows.count == 3 * 48 && packed[0].rows.bytes == 128));
    REQUIRE(apart.size() == 3);
    CHECK((apart[2].offset == 160 && apart[2].rows.count == 48 && apart[2].rows.pitch == 240));
}

TEST_CASE("batches: alignments follow from strides, too") {
    GemmSpec spec = batch_of(2);
    spec.batch_stride_a = 48 * 64 + 2;
    CHECK(resolved(spec).align_a == 4);
    spec.batch = 1;
    CHECK(resolved(spec).align_a == 16);
}

TEST_CASE("batches: a text of the spec is read back, and D^T exchanges strides") {
    GemmSpec spec = batch_of(7);
    spec.batch_stride_a = 0;
    spec.epilogue = EpilogueText("x: f16[b,m,n]; d = acc + x[b,m,n]").with("x", {.batch_stride = 4096});
    const GemmSpec whole = resolved(spec);
    CHECK(to_string(whole).starts_with("gemm-v6 "));
    CHECK(parse_gemm_spec(to_string(whole)) == whole);
    CHECK(parse_gemm_spec("gemm-v6 m=4 n=4 k=4 batch=2 batch-stride-a=packed").batch_stride_a == kPackedBatch);
    CHECK_THROWS_AS(parse_gemm_spec("gemm-v6 m=4 n=4 k=4 batch=2 batch-stride-a=-1"), SpecError);
    spec.epilogue = {};
    spec.d_order = Order::column;
    const GemmSpec turned = with_row_major_d(resolved(spec));
    CHECK(turned.batch_stride_b == 0);
    CHECK(turned.batch_stride_a == 40 * 64);
}

TEST_CASE("batches: a shape line has them behind its sizes") {
    const GemmSpec spec = parse_shape_line("bf16 tn 48 40 64 batch=8 batch-stride-b=0");
    CHECK(spec.batch == 8);
    CHECK(spec.batch_stride_b == 0);
    CHECK(shape_line(spec) == "bf16 tn 48 40 64 batch=8");
    CHECK(shape_line(batch_of(1)) == "bf16 tn 48 40 64");
}

TEST_CASE("batches: a kernel's name says so, and serves any number of problems but one") {
    const Problem three = problem_of(batch_of(3)), none = problem_of(batch_of(0));
    CHECK(three.signature == none.signature);
    CHECK(three.signature != problem_of(batch_of(1)).signature);
    const GpuModel& gpu = typical_gpu(find_arch("sm_90a"));
    const std::string name = kernel_name(three, choose_config(three, gpu));
    CHECK(mentions(name, "_batch_"));
    CHECK(parse_kernel_name(name).signature == three.signature);
}

TEST_CASE("batches: with addresses there are no strides, and alignments are promises") {
    GemmSpec spec = batch_of(3, spec_of(GemmLayout::tn, 1, 40, 5));
    spec.pointers = true;
    const GemmSpec whole = resolved(spec);
    CHECK(whole.batch_stride_a == kPackedBatch);
    CHECK(whole.align_a == 16);  // of one row; packed rows behind it would lie at multiples of 2 bytes
    CHECK(whole.align_b == 2);
    CHECK(operand_extents(whole).a == 5);
    CHECK(operand_extents(whole).d == 40);
    spec.batch = kLargestExtent;  // of matrices that may lie anywhere
    spec.ldb = std::int64_t{1} << 40;
    CHECK(refusal(spec).empty());
}

TEST_CASE("batches: addresses of a spec are read back, and say what they leave out") {
    const GemmSpec spec = parse_shape_line("bf16 tn 48 40 64 batch=1 pointers=yes");
    CHECK(is_batched(spec));
    CHECK(shape_line(spec) == "bf16 tn 48 40 64 batch=1 pointers=yes");
    CHECK(to_string(spec).starts_with("gemm-v8 "));
    CHECK(parse_gemm_spec(to_string(resolved(spec))) == resolved(spec));
    GemmSpec wrong = spec;
    wrong.batch_stride_b = 0;
    CHECK(mentions(refusal(wrong), "batch_stride_b is 0, but pointers is yes"));
    wrong = spec;
    wrong.prepared = Prepared::b;
    CHECK(mentions(refusal(wrong), "pointers is yes, but prepared is b"));
    wrong = spec;
    wrong.groups = 4;
    CHECK(mentions(refusal(wrong), "pointers is yes, but groups is 4"));
}

TEST_CASE("batches: a kernel of addresses is another one, without TMA") {
    GemmSpec spec = batch_of(3);
    spec.pointers = true;
    const Problem problem = problem_of(spec);
    CHECK(problem.signature != problem_of(batch_of(3)).signature);
    const std::string name = kernel_name(problem, choose_config(problem, typical_gpu(find_arch("sm_90a"))));
    CHECK(name.starts_with("mma_multistage_bf16_tn_pointers_"));
    CHECK(parse_kernel_name(name).signature == problem.signature);
}

TEST_CASE("batches: blocks of each problem lie along y and z, and tiles of all along x") {
    const GridRule own{.tile_m = 16, .tile_n = 8, .batch = GridBatch::blocks};
    CHECK(block_count(own, batch_of(70000)) == 15);
    const auto [y, z] = problem_grid(own, batch_of(70000));
    CHECK(y <= 65535);
    CHECK(z <= 65535);
    CHECK(std::int64_t{y} * z >= 70000);
    CHECK(problem_grid(own, batch_of(12)).y == 12);
    const GridRule together{.tile_m = 16, .tile_n = 8, .blocks = PersistentBlocks{1, 1}, .batch = GridBatch::tiles};
    CHECK(block_count(together, batch_of(4), 132) == 60);
    CHECK(block_count(together, batch_of(400), 132) == 132);
    CHECK(blocks_of_batch({.tile_m = 16, .tile_n = 8}, batch_of(4)) == 60);
}

TEST_CASE("batches: what kernels leave out is named") {
    const GpuModel& gpu = typical_gpu(find_arch("sm_90a"));
    const auto why = [&](std::string_view text) -> std::string {
        GemmSpec spec = batch_of(2);
        spec.epilogue = text;
        try {
            static_cast<void>(choose_config(problem_of(spec), gpu));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return {};
    };
    CHECK(mentions(why("d = acc; all[b,n] = sum(acc)"), "reductions"));
    CHECK(why("d = acc; pre[b,m,n] = acc").empty());
}
