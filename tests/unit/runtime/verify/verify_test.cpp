#include "runtime/verify/verify.hpp"

#include "runtime/support/element_codec.hpp"
#include "runtime/verify/guarded_matrix.hpp"
#include "tests/catch.hpp"
#include "tests/support/host_reference_device.hpp"
#include "tests/support/plain_gemm.hpp"
#include "tests/support/says.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using namespace jitgemm::testing;

// The reference kernels run here on the host (HostReferenceDevice), the product itself is made by plain_gemm.hpp's
// formula.

namespace {

GemmSpec odd_problem(GemmLayout layout, Order d_order = Order::row) {
    GemmSpec spec{.m = 67, .n = 70, .k = 37, .layout = layout, .d_order = d_order};
    return resolved(spec);
}

std::byte* host(DevicePointer pointer) { return reinterpret_cast<std::byte*>(pointer.address); }

void store(const GemmSpec& spec, DevicePointer d, std::int64_t row, std::int64_t column, double value) {
    store_element(spec, host(d), row, column, value);
}

/// Computes D as a right kernel does.
void compute(const GemmSpec& spec, const GuardedProblem& problem) {
    const GemmArguments arguments = problem.arguments();
    compute_plainly(spec, plain_operands(problem), arguments.alpha, arguments.beta, host(arguments.d));
}

bool is_nan(const void* data, DataType type, std::int64_t index) {
    return std::isnan(element_value(data, type, index));
}

}  // namespace

TEST_CASE("a right result passes in every layout, with padding and low alignment, on either kind of input", "[heavy]") {
    HostReferenceContext context;
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        for (const Order order : {Order::row, Order::column}) {
            for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
                GemmSpec spec = odd_problem(layout, order);
                spec.lda = spec.ldb = spec.ldd = 75;
                spec.align_a = spec.align_d = 2;
                INFO(to_string(spec));
                GuardedProblem problem(context.impl, spec, inputs, 3, 1, 0);
                compute(spec, problem);
                const Verification verdict = problem.check();
                INFO(verdict.message);
                CHECK(verdict.ok);
                CHECK(verdict.largest_error <= 1);
                CHECK(problem.check_on_cpu().ok);
            }
        }
    }
}

TEST_CASE("alpha, beta and C are checked, exact or not") {
    HostReferenceContext context;
    GemmSpec spec{
        .m = 20, .n = 17, .k = 33, .a = DataType::f16, .b = DataType::f16, .c = DataType::f32, .d = DataType::f32};
    spec = resolved(spec);
    struct Factors {
        float alpha, beta;
    };
    for (const auto& [alpha, beta] : {Factors{2, -0.5F}, Factors{0, 1}, Factors{-1, 0}, Factors{1.7F, 0.3F}}) {
        for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
            INFO(alpha << ' ' << beta);
            GuardedProblem problem(context.impl, spec, inputs, 1, alpha, beta);
            compute(spec, problem);
            const Verification verdict = problem.check();
            INFO(verdict.message);
            CHECK(verdict.ok);
            CHECK_FALSE(std::isnan(verdict.largest_error));
        }
    }
}

TEST_CASE("K = 0 gives beta C") {
    HostReferenceContext context;
    GemmSpec spec{.m = 5, .n = 6, .k = 0, .c = DataType::bf16};
    spec = resolved(spec);
    GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 2);
    compute(spec, problem);
    CHECK(problem.check().ok);
    store(spec, problem.arguments().d, 0, 0, 99);
    CHECK(problem.check().first->got == 99);
}

TEST_CASE("one wrong element is found and named, wherever it lies") {
    HostReferenceContext context;
    for (const Order order : {Order::row, Order::column}) {
        const GemmSpec spec = odd_problem(GemmLayout::tn, order);
        GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 0);
        compute(spec, problem);
        const double right = [&] {
            const auto index = element_index(order, spec.ldd, 66, 69);
            return element_value(host(problem.arguments().d), spec.d, index);
        }();
        store(spec, problem.arguments().d, 66, 69, right + 128);  // the very last
        const Verification verdict = problem.check();
        CHECK_FALSE(verdict.ok);
        CHECK(verdict.wrong == 1);
        REQUIRE(verdict.first);
        CHECK(verdict.first->row == 66);
        CHECK(verdict.first->column == 69);
        CHECK(verdict.first->got ==
              element_value(host(problem.arguments().d), spec.d, element_index(order, spec.ldd, 66, 69)));
        CHECK_THAT(verdict.message, Says("1", "67x70", "elements") && ContainsSubstring("D[66, 69]"));
        CHECK(problem.check_on_cpu().first->row == 66);

        store(spec, problem.arguments().d, 3, 68, right + 500);  // an earlier one comes first, in rows of D
        store(spec, problem.arguments().d, 60, 0, right + 500);
        CHECK(problem.check().first->row == 3);
        CHECK(problem.check().wrong == 3);
    }
}

TEST_CASE("a result off by one unit in the last place is wrong for integers") {
    HostReferenceContext context;
    const GemmSpec spec = odd_problem(GemmLayout::tt);
    GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 0);
    compute(spec, problem);
    std::uint16_t bits = 0;
    std::byte* const element = host(problem.arguments().d) + 2 * element_index(spec.d_order, spec.ldd, 40, 2);
    std::memcpy(&bits, element, 2);
    ++bits;
    std::memcpy(element, &bits, 2);
    CHECK(problem.check().wrong == 1);
    CHECK(problem.check().first->row == 40);
}

TEST_CASE("a D held against one found right is judged as by the reference") {
    HostReferenceContext context;
    for (const Order order : {Order::row, Order::column}) {
        const GemmSpec spec = odd_problem(GemmLayout::tn, order);
        GuardedProblem right(context.impl, spec, InputKind::integers, 3, 2, 0);
        compute(spec, right);
        REQUIRE(right.check().ok);
        GuardedProblem problem(context.impl, spec, InputKind::integers, 3, 2, 0);
        REQUIRE(problem.is_exact());

        CHECK_FALSE(problem.check_against(right).ok);  // all NaN as yet
        compute(spec, problem);
        CHECK(problem.check_against(right).ok);
        CHECK(problem.check_against(right).message == problem.check().message);

        store(spec, problem.arguments().d, 41, 13, 1e6);
        const Verification wrong = problem.check_against(right);
        CHECK(wrong.wrong == 1);
        REQUIRE(wrong.first.has_value());
        CHECK(wrong.first->row == 41);
        CHECK(wrong.first->column == 13);

        problem.poison_outputs();
        compute(spec, problem);
        *(host(problem.arguments().d) - 1) = std::byte{0};
        CHECK(problem.check_against(right).guard_damage == 1);
    }
    // A right D that is itself wrong accuses nobody: the reference decides.
    const GemmSpec spec = odd_problem(GemmLayout::tn);
    GuardedProblem spoilt(context.impl, spec, InputKind::integers, 3, 1, 0);
    GuardedProblem problem(context.impl, spec, InputKind::integers, 3, 1, 0);
    compute(spec, problem);
    CHECK(problem.check_against(spoilt).ok);
}

TEST_CASE("elements that were not written are wrong") {
    HostReferenceContext context;
    const GemmSpec spec = odd_problem(GemmLayout::tn);
    for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
        GuardedProblem problem(context.impl, spec, inputs, 1, 1, 0);
        const Verification untouched = problem.check();
        CHECK(untouched.wrong == spec.m * spec.n);
        CHECK(std::isnan(untouched.first->got));
        CHECK_THAT(untouched.message, ContainsSubstring("got nan"));
        compute(spec, problem);
        CHECK(problem.check().ok);
        problem.poison_outputs();
        CHECK_FALSE(problem.check().ok);
    }
}

TEST_CASE("an element off by more than the bound is wrong for normal inputs, and by how much is told") {
    HostReferenceContext context;
    const GemmSpec spec = odd_problem(GemmLayout::nt);
    GuardedProblem problem(context.impl, spec, InputKind::normal, 1, 1, 0);
    compute(spec, problem);
    const double largest = problem.check().largest_error;
    CHECK(largest > 0.3);  // half a unit in the last place of bf16 is nearly reached somewhere
    CHECK(largest <= 1);
    store(spec, problem.arguments().d, 10, 11, 1000);
    const Verification verdict = problem.check();
    CHECK(verdict.first->row == 10);
    CHECK(verdict.largest_error > 100);
    CHECK_THAT(verdict.message, ContainsSubstring("times the bound"));
}

TEST_CASE("damage before, between and behind the rows of D is counted in bytes") {
    HostReferenceContext context;
    GemmSpec spec{.m = 9, .n = 10, .k = 8, .ldd = 13};
    spec = resolved(spec);
    GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 0);
    compute(spec, problem);
    REQUIRE(problem.check().ok);
    std::byte* const d = host(problem.arguments().d);
    d[-1] = std::byte{0};  // just before
    CHECK(problem.check().guard_damage == 1);
    d[2 * (3 * 13 + 10)] = std::byte{0};  // first byte of the padding of row 3
    d[2 * (3 * 13 + 13) - 1] = std::byte{0};
    CHECK(problem.check().guard_damage == 3);
    d[2 * (8 * 13 + 10)] = std::byte{0};  // just behind the last row
    d[-1000] = d[2 * 8 * 13 + 5000] = std::byte{0};
    const Verification verdict = problem.check();
    CHECK(verdict.guard_damage == 6);
    CHECK(verdict.wrong == 0);
    CHECK_FALSE(verdict.ok);
    CHECK_THAT(verdict.message, Says("6", "outside", "D"));
}

TEST_CASE("a changed input is told with operand, coordinate, was and is, and holds its values again") {
    HostReferenceContext context;
    GemmSpec spec{.m = 9, .n = 10, .k = 8, .c = DataType::f32, .layout = GemmLayout::nt, .lda = 13};
    spec = resolved(spec);
    for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
        GuardedProblem problem(context.impl, spec, inputs, 1, 1, 1);
        const GemmArguments arguments = problem.arguments();
        const std::vector<std::byte> before(host(arguments.a), host(arguments.a) + 2 * (7 * 13 + 9));
        const double was = element_value(host(arguments.a), spec.a, 5 * 13 + 3);  // A[3, 5] of a column-major A
        const std::uint32_t bits = element_bits(100, spec.a);
        std::memcpy(host(arguments.a) + 2 * (5 * 13 + 3), &bits, 2);
        compute(spec, problem);  // of the changed A, as a kernel would that changes it first
        const Verification verdict = problem.check();
        INFO(verdict.message);
        CHECK_FALSE(verdict.ok);
        CHECK(verdict.changed_inputs == 1);
        CHECK(verdict.wrong > 0);
        CHECK(verdict.first->row == 3);
        CHECK_THAT(verdict.message,
                   ContainsSubstring(fmt::format("1 elements of A were changed, first A[3, 5]: was {}, is 100", was)));
        CHECK(std::memcmp(before.data(), host(arguments.a), before.size()) == 0);

        compute(spec, problem);
        CHECK(problem.check().ok);
        host(arguments.b)[0] ^= std::byte{1};
        host(arguments.c)[4 * (8 * 10 + 9) + 1] ^= std::byte{1};  // the last element
        CHECK_THAT(problem.check().message, ContainsSubstring("elements of B were changed, first B[0, 0]") &&
                                                ContainsSubstring("elements of C were changed, first C[8, 9]"));
    }
}

TEST_CASE("an input that is not to be read is not to be written either, nor what lies around one") {
    HostReferenceContext context;
    GemmSpec spec{.m = 9, .n = 10, .k = 8, .c = DataType::bf16, .lda = 13};
    spec = resolved(spec);
    GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 0);  // C is all NaN
    compute(spec, problem);
    REQUIRE(problem.check().ok);
    host(problem.arguments().c)[2 * 10 + 1] = std::byte{0x7f};  // another NaN
    CHECK_THAT(problem.check().message,
               ContainsSubstring("1 elements of C were changed, first C[1, 0]: was 0xffff, is 0x7fff"));
    host(problem.arguments().a)[2 * 8] = std::byte{0};  // between A's rows
    host(problem.arguments().b)[-1] = std::byte{0};
    const Verification verdict = problem.check();
    CHECK(verdict.guard_damage == 2);
    CHECK(verdict.changed_inputs == 0);
    CHECK_THAT(verdict.message, Says("1", "outside", "A") && Says("1", "outside", "B"));
    CHECK(problem.check().ok);
}

TEST_CASE("inputs are NaN outside the matrix, and wherever BLAS does not read") {
    HostReferenceContext context;
    GemmSpec spec{.m = 6, .n = 7, .k = 5, .c = DataType::bf16, .lda = 9};
    spec = resolved(spec);
    GuardedProblem problem(context.impl, spec, InputKind::normal, 1, 1, 0);
    const std::byte* const a = host(problem.arguments().a);
    for (const std::int64_t index : {-1, -30, 5, 8, 9 + 5, 5 * 9 + 5, 5 * 9 + 40}) CHECK(is_nan(a, spec.a, index));
    for (const std::int64_t index : {0, 4, 9, 5 * 9 + 4}) CHECK_FALSE(is_nan(a, spec.a, index));
    for (std::int64_t i = 0; i < spec.m * spec.n; ++i) CHECK(is_nan(host(problem.arguments().c), DataType::bf16, i));

    GuardedProblem zero(context.impl, spec, InputKind::integers, 1, 0, 1);  // alpha = 0: A and B are not read
    CHECK(is_nan(host(zero.arguments().a), spec.a, 0));
    CHECK(is_nan(host(zero.arguments().b), spec.b, 0));
    CHECK_FALSE(is_nan(host(zero.arguments().c), DataType::bf16, 0));
}

TEST_CASE("operands are aligned to what the spec says and no more, unless placed generously") {
    HostReferenceContext context;
    GemmSpec spec{.m = 8, .n = 16, .k = 24, .align_a = 4, .align_b = 2, .align_d = 8};
    spec = resolved(spec);
    CHECK(GuardedMatrix(context.impl.device, form_of(spec, "a", false), "A").guarded_lines().front % 8 == 4);
    CHECK(GuardedMatrix(context.impl.device, form_of(spec, "b", false), "B").guarded_lines().front % 4 == 2);
    CHECK(GuardedMatrix(context.impl.device, form_of(spec, "a", true), "A").guarded_lines().front % 8 ==
          4);  // asked for less than is natural
    const GemmSpec natural = resolved({.m = 8, .n = 16, .k = 24});
    CHECK(GuardedMatrix(context.impl.device, form_of(natural, "a", false), "A").guarded_lines().front % 32 == 16);
    CHECK(GuardedMatrix(context.impl.device, form_of(natural, "a", true), "A").guarded_lines().front % 256 == 0);
}

TEST_CASE("integer inputs of f16 accumulators never exceed what f16 holds, also when K is large") {
    HostReferenceContext context;
    GemmSpec spec{.m = 3,
                  .n = 4,
                  .k = 5000,
                  .a = DataType::f16,
                  .b = DataType::f16,
                  .d = DataType::f16,
                  .accumulator = DataType::f16};
    spec = resolved(spec);
    GuardedProblem problem(context.impl, spec, InputKind::integers, 1, 1, 0);
    int nonzero = 0;
    for (std::int64_t row = 0; row < spec.m; ++row) {
        double magnitude = 0;
        for (std::int64_t k = 0; k < spec.k; ++k)
            magnitude += std::fabs(element_value(host(problem.arguments().a), spec.a, row * spec.lda + k));
        CHECK(magnitude >= 1666);  // one in each group of three; the last group is not whole
        CHECK(magnitude <= 1667);
    }
    compute(spec, problem);
    CHECK(problem.check().ok);
    for (std::int64_t i = 0; i < spec.m * spec.n; ++i)
        if (element_value(host(problem.arguments().d), spec.d, i) != 0) ++nonzero;
    CHECK(nonzero > 8);
}

TEST_CASE("every type of the type table can be filled and checked", "[heavy]") {
    HostReferenceContext context;
    for (const DataTypeInfo& type : data_type_table()) {
        if (type.type == DataType::s32) continue;  // an output only
        GemmSpec spec = gemm_spec_of_type(type.type);
        spec.m = 5;
        spec.n = 9;
        spec.k = 48;
        spec = resolved(spec);
        for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
            INFO(type.name << (inputs == InputKind::normal ? " normal" : " integers"));
            GuardedProblem problem(context.impl, spec, inputs, 1, 1, 0);
            CHECK(problem.check().wrong == 45);
            compute(spec, problem);
            const Verification verdict = problem.check();
            INFO(verdict.message);
            CHECK(verdict.ok);
        }
    }
}

TEST_CASE("problems without elements are right and touch nothing") {
    HostReferenceContext context;
    for (const auto& [m, n] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
        GemmSpec spec{.m = m, .n = n, .k = 8};
        GuardedProblem problem(context.impl, resolved(spec), InputKind::integers, 1, 1, 0);
        CHECK(problem.check().ok);
        *host(problem.arguments().d) = std::byte{1};
        CHECK(problem.check().guard_damage == 1);
    }
}

TEST_CASE("the CPU is refused large problems") {
    HostReferenceContext context;
    GemmSpec spec{.m = 512, .n = 512, .k = 512};
    const GuardedProblem problem(context.impl, resolved(spec), InputKind::integers, 1, 0, 0);
    CHECK_THROWS_WITH(problem.check_on_cpu(), ContainsSubstring("512x512x512"));
}
