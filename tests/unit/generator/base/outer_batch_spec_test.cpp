/// Batches with two dimensions: strides, their rules, their text, and batches that have but one.

#include "generator/base/operand.hpp"
#include "generator/base/problem.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/c_api/host_rows.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <set>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Heads that lie side by side in the rows of a sequence, and sequences one behind the other.
GemmSpec heads(std::int64_t sequences = 3, std::int64_t count = 4) {
    GemmSpec spec = spec_of(GemmLayout::tn, 24, 40, 16);
    spec.batch = sequences * count;
    spec.lda = spec.ldb = 16 * count;
    spec.batch_stride_a = spec.batch_stride_b = 16;
    spec.outer = OuterBatch{.inner = count};
    return spec;
}

std::string refusal(const GemmSpec& spec) { return fmt::format("{}", fmt::join(problems(spec), "; ")); }

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The same with a change.
template <typename Change>
GemmSpec with(Change change, GemmSpec spec = heads()) {
    change(spec);
    return spec;
}

/// Whether no two elements are one, element by element.
bool are_all_apart(std::int64_t run, const MemorySteps& steps) {
    std::set<std::int64_t> seen;
    for (std::int64_t x = 0; x < steps[0].count; ++x)
        for (std::int64_t y = 0; y < steps[1].count; ++y)
            for (std::int64_t z = 0; z < steps[2].count; ++z)
                for (std::int64_t i = 0; i < run; ++i)
                    if (!seen.insert(x * steps[0].stride + y * steps[1].stride + z * steps[2].stride + i).second)
                        return false;
    return true;
}

}  // namespace

TEST_CASE("batches of two dimensions: packed matrices lie behind those of the inner problems") {
    const GemmSpec whole = resolved(heads());
    REQUIRE(is_nested(whole));
    CHECK(whole.outer->inner == 4);
    CHECK(whole.outer->stride_a == 24 * 64);
    CHECK(whole.outer->stride_b == 40 * 64);
    CHECK(whole.batch_stride_d == 24 * 40);
    CHECK(whole.outer->stride_d == 4 * 24 * 40);
    const OperandExtents extents = operand_extents(whole);
    CHECK(extents.a == 3 * 24 * 64);
    CHECK(extents.d == 12 * 24 * 40);
    CHECK(flops(whole) == 12 * 2.0 * 24 * 40 * 16);
    const GemmSpec shared = resolved(with([](GemmSpec& s) { s.batch_stride_b = 0; }));
    CHECK(shared.outer->stride_b == 40 * 64);  // one B for the heads of a sequence
    CHECK(operand_extents(shared).b == 2 * 40 * 64 + 39 * 64 + 16);
}

TEST_CASE("batches of two dimensions: those of one are that") {
    using Change = void (*)(GemmSpec&);
    const GemmSpec packed = spec_of(GemmLayout::tn, 24, 40, 16);
    const auto flat = [&](
                          std::int64_t batch, Change change = [](GemmSpec&) {}) {
        GemmSpec spec = packed;
        spec.batch = batch;
        change(spec);
        return resolved(spec);
    };
    const auto nested = [&](
                            std::int64_t batch, const OuterBatch& outer, Change change = [](GemmSpec&) {}) {
        GemmSpec spec = packed;
        spec.batch = batch;
        spec.outer = outer;
        change(spec);
        return resolved(spec);
    };
    CHECK(nested(12, {}) == flat(12));                            // no inner dimension is named
    CHECK(nested(12, {.inner = 4}) == flat(12));                  // the outer one continues the inner one
    CHECK(nested(4, {.inner = 4, .stride_a = 9000}) == flat(4));  // one place
    CHECK(nested(0, {.inner = 4, .stride_a = 9000}) == flat(0));
    CHECK(nested(3, {.inner = 1, .stride_a = 9000, .stride_d = 1000}) ==
          flat(3, [](GemmSpec& s) { s.batch_stride_a = 9000, s.batch_stride_d = 1000; }));
    CHECK(nested(12, {.inner = 4, .stride_b = 0}, [](GemmSpec& s) { s.batch_stride_b = 0; }) ==
          flat(12, [](GemmSpec& s) { s.batch_stride_b = 0; }));
    CHECK(is_nested(nested(12, {.inner = 4, .stride_b = 0})));

    const EpilogueText text = "d = acc + bias[b,n]";
    GemmSpec spec = packed;
    spec.batch = 3;
    spec.outer = OuterBatch{.inner = 1, .stride_a = 9000};
    spec.epilogue = text.with("bias", {.batch_stride = 7, .outer_stride = 48});
    CHECK(resolved(spec).epilogue.layout_of("bias").batch_stride == 48);
    spec.outer = OuterBatch{.inner = 3, .stride_a = 9000};
    CHECK(resolved(spec).epilogue.layout_of("bias").batch_stride == 7);
    CHECK(resolved(spec).epilogue.layout_of("bias").outer_stride == kPackedBatch);
}

TEST_CASE("batches of two dimensions: the rules name the value") {
    const auto outer_of = [](OuterBatch outer) { return refusal(with([&](GemmSpec& s) { s.outer = outer; })); };
    CHECK(refusal(heads()).empty());
    CHECK(mentions(outer_of({.inner = -4}), "batch_inner is -4: it cannot be negative"));
    CHECK(mentions(outer_of({.inner = 5}), "batch_inner is 5 and batch is 12: batch must be a multiple"));
    CHECK(mentions(outer_of({.stride_b = 9}), "outer_stride_b is 9, but batch_inner is 0"));
    CHECK(mentions(outer_of({.inner = 4, .stride_a = -2}), "outer_stride_a is -2"));
    CHECK(mentions(outer_of({.inner = 4, .stride_d = 4 * 24 * 40 - 1}),
                   "outer_stride_d is 3839: the matrices of D would overlap"));
    CHECK(mentions(outer_of({.inner = 4, .stride_d = 0}), "overlap"));
    CHECK(mentions(outer_of({.inner = 4, .stride_a = std::int64_t{1} << 62}), "outer_stride_a is 4611686018427387904"));
    CHECK(
        mentions(refusal(with([](GemmSpec& s) { s.align_a = 16, s.outer = OuterBatch{.inner = 4, .stride_a = 1540}; })),
                 "align_a is 16: outer_stride_a is 1540 elements"));
    CHECK(mentions(refusal(with([](GemmSpec& s) { s.pointers = true; })), "batch_inner is 4, but pointers is yes"));
    CHECK(mentions(refusal(with([](GemmSpec& s) { s.batch = 1, s.groups = 3, s.outer = OuterBatch{.inner = 1}; })),
                   "batch_inner is 1, but groups is 3"));
    CHECK(mentions(refusal(with([](GemmSpec& s) { s.prepared = Prepared::b, s.batch_stride_b = 0; })),
                   "prepared is b and outer_stride_b is not 0"));
    const EpilogueText text = "d = acc + bias[b,n] + all[n]";
    CHECK(mentions(refusal(with([&](GemmSpec& s) { s.epilogue = text.with("all", {.outer_stride = 40}); })),
                   "outer-stride-all is 40, but the index of all has no b"));
    GemmSpec flat = heads();
    flat.outer = {};
    flat.epilogue = text.with("bias", {.outer_stride = 40});
    CHECK(mentions(refusal(flat), "outer-stride-bias is 40, but the batch has one dimension"));
}

TEST_CASE("batches of two dimensions: their text reads as it was written") {
    GemmSpec spec = heads();
    spec.epilogue = EpilogueText("d = acc + bias[b,n]").with("bias", {.batch_stride = 0, .outer_stride = 48});
    for (const GemmSpec& one : {spec, resolved(spec)}) {
        CHECK(to_string(one).starts_with("gemm-v9 "));
        CHECK(mentions(to_string(one), " batch-inner=4"));
        CHECK(mentions(to_string(one), " outer-stride-bias=48"));
        CHECK(parse_gemm_spec(to_string(one)) == one);
    }
    CHECK(mentions(shape_line(spec), "batch=12 batch-inner=4"));
    CHECK(parse_shape_line("bf16 tn 24 40 16 batch=12 lda=64 ldb=64 batch-stride-a=16 batch-stride-b=16 "
                           "batch-inner=4") == heads());
    CHECK_THROWS_AS(parse_gemm_spec("gemm-v8 m=1 n=1 k=1 batch-inner=4"), SpecError);
    CHECK_THROWS_AS(parse_shape_line("bf16 tn 24 40 16 batch=12 outer-stride-a=-1"), SpecError);
}

TEST_CASE("batches of two dimensions: a kernel of its own, with a map of four dimensions") {
    const Problem problem = problem_of(heads());
    GemmSpec flat = heads();
    flat.outer = {};
    CHECK(problem.signature != problem_of(flat).signature);
    const GpuModel gpu = typical_gpu(find_arch("sm_90a"));
    Selection selection;
    selection.family = "wgmma_warp_specialized";
    const KernelConfig config = choose_config(problem, gpu, selection);
    const std::string name = kernel_name(problem, config);
    CHECK(name.starts_with("wgmma_bf16_tn_nested_"));
    CHECK(tensor_map_ranks(family_of(config).entries(problem.signature, config).back().arguments) == std::set{4});
    CHECK(parse_kernel_name(name).signature == problem.signature);
    const Problem turned = problem_of(with([](GemmSpec& s) { s.d_order = Order::column; }));
    CHECK(turned.row_major().outer->stride_a == problem.asked.outer->stride_b);
    CHECK(turned.row_major().outer->stride_b == problem.asked.outer->stride_a);
}

TEST_CASE("batches of two dimensions: matrices that are said to lie apart do") {
    RandomBits random(42);
    int apart = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto step = [&] { return MemoryStep{1 + random.below(4), random.below(40)}; };
        const MemorySteps steps{step(), step(), step()};
        const std::int64_t run = 1 + random.below(5);
        if (!are_apart(run, steps)) continue;
        ++apart;
        CHECK(are_all_apart(run, steps));
    }
    CHECK(apart > 300);
    CHECK(are_apart(5, {MemoryStep{4, 20}, MemoryStep{3, 5}, MemoryStep{2, 80}}));
    CHECK_FALSE(are_apart(5, {MemoryStep{4, 20}, MemoryStep{3, 5}, MemoryStep{2, 74}}));
}

TEST_CASE("batches of two dimensions: rows of host memory are those of all matrices") {
    const GemmSpec spec = resolved(heads(2, 3));
    const GemmOperand a = *gemm_operands(spec).find("a");
    const std::vector<c_api::OperandRows> rows = c_api::rows_of(a);
    REQUIRE(rows.size() == 6);
    CHECK(rows[2].offset == 2 * 16 * 2);
    CHECK(rows[5].offset == static_cast<std::size_t>(24 * 48 + 2 * 16) * 2);
}
