#include "runtime/verify/verify.hpp"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/plain_gemm.hpp"

#include <chrono>
#include <cmath>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::element_index;

namespace {

GemmSpec odd_problem(GemmLayout layout = GemmLayout::tn, Order d_order = Order::row) {
    return resolved({.m = 131, .n = 74, .k = 51, .layout = layout, .d_order = d_order});
}

void run(Context& context, const GemmSpec& spec, const GuardedProblem& problem) {
    context.kernel(spec).launch(problem.arguments());
    context.synchronize();
}

/// Changes one element of D as a faulty kernel would.
void plant(Context& context, const GemmSpec& spec, const GuardedProblem& problem, std::int64_t row, std::int64_t column,
           double value) {
    const std::uint32_t bits = element_bits(value, spec.d);
    const auto size = static_cast<std::uint64_t>(bytes(spec.d));
    const auto index = static_cast<std::uint64_t>(element_index(spec.d_order, spec.ldd, row, column));
    state_of(context).device->copy_to_device(problem.arguments().d.address + index * size, &bits, size);
}

/// Equal but for the order of additions in double precision.
bool is_near(double left, double right) { return left == right || std::fabs(left - right) <= 1e-9 * std::fabs(right); }

}  // namespace

TEST_CASE("generated kernels are right in every layout, types and orders, on the device and on the CPU") {
    REQUIRE_GPU();
    Context context;
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        for (const Order order : {Order::row, Order::column}) {
            for (const DataType type : {DataType::f16, DataType::bf16}) {
                GemmSpec spec = odd_problem(layout, order);
                spec.a = spec.b = spec.d = type;
                spec.c = type;
                spec = resolved(spec);
                INFO(to_string(spec));
                const Verification verdict =
                    verify(state_of(context), context.kernel(spec), {.alpha = -2, .beta = 0.5F, .use_cpu = true});
                INFO(verdict.message);
                CHECK(verdict.ok);
            }
        }
    }
}

TEST_CASE("a planted wrong element is named by the device's check") {
    REQUIRE_GPU();
    Context context;
    for (const Order order : {Order::row, Order::column}) {
        const GemmSpec spec = odd_problem(GemmLayout::nt, order);
        for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
            GuardedProblem problem(state_of(context), spec, inputs, 1, 1, 0);
            run(context, spec, problem);
            REQUIRE(problem.check().ok);
            plant(context, spec, problem, 129, 73, 5000);
            plant(context, spec, problem, 130, 2, 5000);
            const Verification verdict = problem.check();
            CHECK(verdict.wrong == 2);
            REQUIRE(verdict.first);
            CHECK(verdict.first->row == 129);
            CHECK(verdict.first->column == 73);
            CHECK(verdict.first->got == 4992);  // 5000 as bf16
            CHECK(std::fabs(verdict.first->expected) < 4000);
            CHECK_THAT(verdict.message, ContainsSubstring("D[129, 73]"));
        }
    }
}

TEST_CASE("an unwritten D and damage around D are found on the device") {
    REQUIRE_GPU();
    Context context;
    GemmSpec spec = odd_problem();
    spec.ldd = 80;
    spec.align_d = 16;
    spec = resolved(spec);
    GuardedProblem problem(state_of(context), spec, InputKind::integers, 1, 1, 0);
    CHECK(problem.check().wrong == spec.m * spec.n);
    CHECK(std::isnan(problem.check().first->got));
    run(context, spec, problem);
    CHECK(problem.check().ok);
    const std::uint64_t d = problem.arguments().d.address;
    const std::uint8_t damage = 0;
    state_of(context).device->copy_to_device(d - 1, &damage, 1);
    state_of(context).device->copy_to_device(d + 2 * (7 * 80 + 74), &damage, 1);
    state_of(context).device->copy_to_device(d + 2 * (130 * 80 + 74), &damage, 1);
    CHECK(problem.check().guard_damage == 3);
    CHECK_FALSE(problem.check().ok);
}

TEST_CASE("the device's check agrees with the CPU's on what is wrong") {
    REQUIRE_GPU();
    Context context;
    GemmSpec spec{.m = 66,
                  .n = 129,
                  .k = 300,
                  .a = DataType::f16,
                  .b = DataType::f16,
                  .c = DataType::f16,
                  .d = DataType::f16,
                  .accumulator = DataType::f16};
    spec = resolved(spec);
    for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
        GuardedProblem problem(state_of(context), spec, inputs, 5, 0.5F, 2);
        run(context, spec, problem);
        plant(context, spec, problem, 1, 2, 999);
        plant(context, spec, problem, 65, 128, -999);
        const Verification on_device = problem.check();
        const Verification on_host = problem.check_on_cpu();
        CHECK(on_device.wrong == 2);
        CHECK(on_host.wrong == 2);
        CHECK(on_device.first->row == on_host.first->row);
        CHECK(on_device.first->column == on_host.first->column);
        CHECK(is_near(on_device.first->expected, on_host.first->expected));
        CHECK(is_near(on_device.largest_error, on_host.largest_error));
    }
}

TEST_CASE("a large problem is checked in seconds", "[timing]") {
    REQUIRE_GPU();
    Context context;
    const GemmSpec spec = resolved({.m = 8192, .n = 8192, .k = 8192});
    for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
        const GuardedProblem problem(state_of(context), spec, inputs, 1, 1, 0);
        run(context, spec, problem);
        const auto start = std::chrono::steady_clock::now();
        const Verification verdict = problem.check();
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        INFO(verdict.message << " in " << seconds << " s");
        CHECK(verdict.ok);
        std::cout << "8192^3 checked in " << seconds << " s: " << verdict.message << '\n';
        CHECK(seconds < 30);  // about a second where double precision is not held back
    }
}

TEST_CASE("matrices beyond 2^31 elements and long grids are verified", "[memory]") {
    REQUIRE_GPU();
    Context context;
    struct Extents {
        std::int64_t m, n, k;
    };
    for (const auto& [m, n, k] : {Extents{5'000'000, 8, 8}, {8, 5'000'000, 8}, {65537, 32776, 8}, {65544, 8, 32776}}) {
        const GemmSpec spec = resolved({.m = m, .n = n, .k = k});
        if (state_of(context).device->free_memory() < (std::size_t{12} << 30))
            SKIP_TEST("less than 12 GiB of device memory are free");
        INFO(to_string(spec));
        const Verification verdict = verify(state_of(context), context.kernel(spec));
        INFO(verdict.message);
        CHECK(verdict.ok);
    }
}
