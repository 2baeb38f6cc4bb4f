/// Batches are filled and checked in one go: against loops over plain memory.

#include "runtime/support/element_codec.hpp"
#include "runtime/verify/guarded_matrix.hpp"
#include "runtime/verify/host_reference.hpp"
#include "tests/catch.hpp"
#include "tests/support/host_reference_device.hpp"
#include "tests/support/plain_gemm.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::byte* host(DevicePointer pointer) { return reinterpret_cast<std::byte*>(pointer.address); }

std::byte* moved(DevicePointer pointer, std::int64_t elements, DataType type) {
    return host(pointer) + elements * bytes(type);
}

/// Elements from the first matrix of an operand to that of a problem.
std::int64_t begin_of(const GemmSpec& s, std::int64_t problem, std::int64_t stride, std::int64_t OuterBatch::*outer) {
    if (!is_nested(s)) return problem * stride;
    return problem / s.outer->inner * ((*s.outer).*outer) + problem % s.outer->inner * stride;
}
std::int64_t begin_of_d(const GemmSpec& s, std::int64_t problem) {
    return begin_of(s, problem, s.batch_stride_d, &OuterBatch::stride_d);
}

/// Computes D as a right kernel does, one problem after the other.
void compute(const GemmSpec& s, const GuardedProblem& problem) {
    const GemmArguments to = problem.arguments();
    for (std::int64_t i = 0; i < s.batch; ++i) {
        const std::int64_t c = begin_of(s, i, s.batch_stride_c, &OuterBatch::stride_c);
        const PlainOperands from{.a = moved(to.a, begin_of(s, i, s.batch_stride_a, &OuterBatch::stride_a), s.a),
                                 .b = moved(to.b, begin_of(s, i, s.batch_stride_b, &OuterBatch::stride_b), s.b),
                                 .c = s.c ? moved(to.c, c, *s.c) : nullptr};
        compute_plainly(s, from, to.alpha, to.beta, moved(to.d, begin_of_d(s, i), s.d));
    }
}

/// Changes an element of a problem's D.
void spoil(const GemmSpec& s, const GuardedProblem& problem, const ElementPlace& at) {
    store_element(s, moved(problem.arguments().d, begin_of_d(s, at.problem), s.d), at.row, at.column, 1000);
}

GemmSpec batch_of(std::int64_t batch) { return {.m = 5, .n = 6, .k = 7, .batch = batch}; }

/// Packed, with room between matrices and lines, side by side, shared and overlapping.
std::vector<GemmSpec> all_lies(std::int64_t batch) {
    std::vector<GemmSpec> specs(5, batch_of(batch));
    specs[1].lda = 9, specs[1].ldd = 8, specs[1].batch_stride_a = 51, specs[1].batch_stride_d = 40;
    specs[2].ldd = 8 * batch, specs[2].batch_stride_d = 8, specs[2].lda = 8 * batch, specs[2].batch_stride_a = 7;
    specs[3].batch_stride_b = 0, specs[3].c = DataType::f32, specs[3].d_order = Order::column;
    specs[4].batch_stride_a = 4, specs[4].c = DataType::bf16, specs[4].layout = GemmLayout::nt;
    for (GemmSpec& spec : specs) spec = resolved(spec);
    return specs;
}

/// Batches of 2 · 3 problems: heads side by side, with room, shared along one dimension or along the other, and heads
/// that lie further apart than sequences.
std::vector<GemmSpec> all_nested_lies() {
    std::vector<GemmSpec> specs(5, batch_of(6));
    const auto heads = [](GemmSpec& spec) {
        spec.lda = 3 * 8, spec.batch_stride_a = 8, spec.ldd = 3 * 6 + 2, spec.batch_stride_d = 6;
    };
    heads(specs[0]), specs[0].outer = OuterBatch{.inner = 3};
    heads(specs[1]), specs[1].outer = OuterBatch{.inner = 3, .stride_a = 131, .stride_b = 0, .stride_d = 117};
    specs[2].batch_stride_a = 0, specs[2].outer = OuterBatch{.inner = 3, .stride_a = 40, .stride_d = 100};
    specs[2].c = DataType::f32, specs[2].d_order = Order::column;
    specs[3].outer = OuterBatch{.inner = 2, .stride_a = 36, .stride_d = 33};
    specs[3].batch_stride_a = 120, specs[3].batch_stride_d = 100;
    specs[4].ldd = 6 * 6 + 1, specs[4].batch_stride_d = 12, specs[4].outer = OuterBatch{.inner = 3, .stride_d = 6};
    for (GemmSpec& spec : specs) {
        spec = resolved(spec);
        REQUIRE(is_nested(spec));
    }
    return specs;
}

std::vector<GemmSpec> lies_of_both() {
    std::vector<GemmSpec> specs = all_lies(6);
    std::ranges::copy(all_nested_lies(), std::back_inserter(specs));
    return specs;
}

/// Whether the byte belongs to an element of one of the form's matrices. It counts from the first element.
bool is_in_matrix(const MatrixForm& form, std::int64_t byte) {
    for (std::int64_t outer = 0; outer < form.outer_matrices; ++outer)
        for (std::int64_t problem = 0; problem < form.matrices; ++problem)
            for (std::int64_t line = 0; line < form.lines(); ++line) {
                const std::int64_t first =
                    outer * form.outer_stride + problem * form.batch_stride + line * form.leading_dimension;
                if (byte >= first * bytes(form.type) && byte < (first + form.run()) * bytes(form.type)) return true;
            }
    return false;
}

}  // namespace

TEST_CASE("batched verification: right results pass and a wrong one is named, wherever matrices lie", "[heavy]") {
    HostReferenceContext context;
    for (const GemmSpec& spec : lies_of_both()) {
        for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
            INFO(to_string(spec));
            GuardedProblem problem(context.impl, spec, inputs, 3, 2, spec.c ? 0.5F : 0);
            compute(spec, problem);
            const Verification right = problem.check();
            INFO(right.message);
            CHECK(right.ok);
            CHECK(problem.check_on_cpu().ok);

            spoil(spec, problem, {5, 0, 1});
            spoil(spec, problem, {4, 4, 5});
            for (const Verification& wrong : {problem.check(), problem.check_on_cpu()}) {
                CHECK(wrong.wrong == 2);
                REQUIRE(wrong.first);
                CHECK(wrong.first->problem == 4);
                CHECK(wrong.first->row == 4);
                CHECK(wrong.first->column == 5);
                CHECK(wrong.first->got == 1000);
                CHECK_THAT(wrong.message, ContainsSubstring("D[4][4, 5]"));
            }
        }
    }
}

TEST_CASE("batched verification: matrices differ, on the host as in the kernels") {
    HostReferenceContext context;
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    const HostReference on_host(context.impl.device);
    const GemmSpec spec = all_lies(4)[1];
    const GuardedMatrix a(context.impl.device, form_of(spec, "a", false), "A");
    const auto filled = [&](const Reference& reference, const Fill& fill) {
        std::memset(host(a.matrix().data), 0, static_cast<std::size_t>(a.form().extent_bytes()));
        reference.fill(a.matrix(), fill);
        std::vector<std::vector<double>> matrices(4);
        for (std::int64_t problem = 0; problem < 4; ++problem)
            for (std::int64_t row = 0; row < spec.m; ++row)
                for (std::int64_t k = 0; k < spec.k; ++k)
                    matrices[static_cast<std::size_t>(problem)].push_back(element_value(
                        host(a.matrix().data), spec.a, problem * spec.batch_stride_a + row * spec.lda + k));
        return matrices;
    };
    for (const Fill& fill :
         {Fill{.kind = FillKind::normal, .seed = 4}, Fill{.kind = FillKind::integers, .seed = 4, .range = 5},
          Fill{.kind = FillKind::sparse, .seed = 4, .group = 3}}) {
        const auto matrices = filled(*kernels, fill);
        CHECK(filled(on_host, fill) == matrices);
        CHECK(std::set(matrices.begin(), matrices.end()).size() == 4);
        CHECK(kernels->compare(a.matrix(), fill).wrong == 0);
    }
}

TEST_CASE("batched verification: a changed input is named with its problem") {
    HostReferenceContext context;
    for (const GemmSpec& spec : all_lies(3)) {
        if (spec.c) continue;
        INFO(to_string(spec));
        GuardedProblem problem(context.impl, spec, InputKind::integers, 3, 1, 0);
        compute(spec, problem);
        std::memset(moved(problem.arguments().a, 2 * spec.batch_stride_a + 3 * spec.lda + 6, spec.a), 0, 2);
        const Verification verdict = problem.check();
        CHECK(verdict.changed_inputs == 1);
        CHECK_THAT(verdict.message, ContainsSubstring("A[2][3, 6]"));
        CHECK(problem.check().ok);  // it holds its value again
    }
}

// Two counts say which bytes are guarded: none is in a matrix, and none that is not is left out.
TEST_CASE("batched verification: all bytes outside the matrices are guarded") {
    HostReferenceContext context;
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    const HostReference on_host(context.impl.device);
    for (const GemmSpec& spec : lies_of_both())
        for (const char* const name : {"a", "b", "d"}) {
            INFO(to_string(spec) << ' ' << name);
            const GuardedMatrix memory(context.impl.device, form_of(spec, name, false), name);
            const GuardedLines lines = memory.guarded_lines();
            std::byte* const first = host(memory.matrix().data);
            std::byte* const all = host(memory.memory().data());
            std::int64_t outside = 0;
            for (std::int64_t i = 0; i < memory.memory().size_bytes(); ++i) {
                const bool is_outside = !is_in_matrix(memory.form(), all + i - first);
                all[i] = is_outside ? std::byte{0x5a} : std::byte{1};
                outside += is_outside ? 1 : 0;
            }
            for (const Reference* const reference : std::initializer_list<const Reference*>{&on_host, kernels.get()}) {
                CHECK(reference->guard_damage(lines, 0x5a) == 0);
                CHECK(reference->guard_damage(lines, 0x5b) == outside);
            }
        }
}

TEST_CASE("batched verification: one wrong element among 70,000 problems, and a byte between two of them") {
    HostReferenceContext context;
    GemmSpec spec{.m = 3, .n = 5, .k = 4, .batch = 70'000};
    spec.batch_stride_d = 17;
    spec = resolved(spec);
    GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 0);
    compute(spec, problem);
    REQUIRE(problem.check_on_cpu().ok);
    spoil(spec, problem, {41'234, 2, 3});
    const Verification verdict = problem.check_on_cpu();
    CHECK(verdict.wrong == 1);
    REQUIRE(verdict.first);
    CHECK(verdict.first->problem == 41'234);
    CHECK(verdict.first->row == 2);
    CHECK(verdict.first->column == 3);
    CHECK_THAT(verdict.message, ContainsSubstring("D[41234][2, 3]"));

    const GuardedMatrix d(context.impl.device, form_of(spec, "d", false), "D");
    std::memset(host(d.memory().data()), 0x5a, static_cast<std::size_t>(d.memory().size_bytes()));
    const HostReference on_host(context.impl.device);
    CHECK(on_host.guard_damage(d.guarded_lines(), 0x5a) == 0);
    *(moved(d.matrix().data, 41'234 * 17 + 15, spec.d)) = std::byte{0};
    CHECK(on_host.guard_damage(d.guarded_lines(), 0x5a) == 1);
    *(moved(d.matrix().data, 41'234 * 17 + 14, spec.d)) = std::byte{0};  // an element
    CHECK(on_host.guard_damage(d.guarded_lines(), 0x5a) == 1);
}

// The second batch has more elements than are checked in one go.
TEST_CASE("batched verification: a text with values of each problem", "[heavy]") {
    HostReferenceContext context;
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{5, 6}, {1450, 1450}}) {
        GemmSpec spec{.m = m, .n = n, .k = 1, .batch = 2};
        spec.epilogue = "d = relu(acc + bias[b,n])";
        spec = resolved(spec);
        GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 0);
        const GemmArguments to = problem.arguments();
        const OperandArgument* const bias = to.operands.find("bias");
        REQUIRE(bias != nullptr);
        const DataType bias_type = gemm_operands(spec).find("bias")->type;
        for (std::int64_t i = 0; i < spec.batch; ++i)
            for (std::int64_t row = 0; row < m; ++row)
                for (std::int64_t column = 0; column < n; ++column) {
                    const double sum = element_value(host(to.a), spec.a, i * spec.batch_stride_a + row) *
                                       element_value(host(to.b), spec.b, i * spec.batch_stride_b + column);
                    const double value = sum + element_value(host(bias->pointer), bias_type, i * n + column);
                    store_element(spec, moved(to.d, i * spec.batch_stride_d, spec.d), row, column,
                                  std::max(0.0, value));
                }
        spoil(spec, problem, {1, m - 1, 3});
        const Verification verdict = problem.check_on_cpu();
        CHECK(verdict.wrong == 1);
        REQUIRE(verdict.first);
        CHECK(verdict.first->problem == 1);
        CHECK(verdict.first->row == m - 1);
        CHECK(verdict.first->column == 3);
    }
}
