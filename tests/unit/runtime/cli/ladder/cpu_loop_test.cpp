#include "runtime/cli/ladder/cpu_loop.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/plain_gemm.hpp"
#include "tests/support/specs.hpp"

#include <limits>
#include <vector>

using namespace jitgemm;

namespace {

GemmSpec f32_spec(std::int64_t m, std::int64_t n, std::int64_t k, GemmLayout layout = GemmLayout::tt) {
    return testing::spec_of(layout, m, n, k, DataType::f32);
}

std::vector<float> integers(std::int64_t count, int seed) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed) % 11 - 5));
    return values;
}

/// Compares with the reference, which sums in double precision: of small integers both are exact.
void check(GemmSpec spec, float alpha, float beta) {
    spec = resolved(spec);
    const OperandExtents extents = operand_extents(spec);
    const std::vector<float> a = integers(extents.a, 1);
    const std::vector<float> b = integers(extents.b, 2);
    const std::vector<float> c = integers(extents.c, 3);
    std::vector<float> d(static_cast<std::size_t>(extents.d), std::numeric_limits<float>::quiet_NaN());
    const CpuLoopRun run =
        run_cpu_loop(problem_of(spec), {.a = a.data(), .b = b.data(), .c = c.data(), .d = d.data()}, alpha, beta, 60);
    REQUIRE(run.whole);
    REQUIRE(run.elements == spec.m * spec.n);
    const testing::PlainOperands operands{.a = a.data(), .b = b.data(), .c = c.data()};
    for (std::int64_t i = 0; i < spec.m; ++i)
        for (std::int64_t j = 0; j < spec.n; ++j)
            REQUIRE(static_cast<double>(
                        d[static_cast<std::size_t>(testing::element_index(spec.d_order, spec.ldd, i, j))]) ==
                    testing::plain_element(spec, operands, alpha, beta, i, j));
}

}  // namespace

TEST_CASE("cpu loop: exact in every layout and order, with C and padded rows") {
    for (const GemmLayout layout : testing::kLayouts) {
        check(f32_spec(17, 13, 41, layout), 1, 0);
        GemmSpec spec = f32_spec(5, 9, 7, layout);
        spec.c = DataType::f32;
        spec.d_order = Order::column;
        spec.lda = spec.ldb = spec.ldc = spec.ldd = 24;
        check(spec, -2, 0.5);
    }
    check(f32_spec(1, 1, 1), 1, 0);
}

TEST_CASE("cpu loop: C is not read when beta is 0") {
    GemmSpec spec = f32_spec(3, 4, 5);
    spec.c = DataType::f32;
    spec = resolved(spec);
    const std::vector<float> a(15, 1);
    const std::vector<float> b(20, 1);
    const std::vector<float> c(12, std::numeric_limits<float>::quiet_NaN());
    std::vector<float> d(12);
    static_cast<void>(
        run_cpu_loop(problem_of(spec), {.a = a.data(), .b = b.data(), .c = c.data(), .d = d.data()}, 1, 0, 60));
    REQUIRE(d == std::vector<float>(12, 5));
}

TEST_CASE("cpu loop: ends at its limit and extrapolates by the elements it computed") {
    const GemmSpec spec = resolved(f32_spec(2048, 2048, 2048));
    const CpuLoopRun run = time_cpu_loop(spec, 1, 0, 0.02);
    REQUIRE_FALSE(run.whole);
    REQUIRE(run.elements > 0);
    REQUIRE(run.elements < spec.m * spec.n);
    REQUIRE(run.seconds >= 0.02);
    const double expected = run.seconds * 1e6 * 2048 * 2048 / static_cast<double>(run.elements);
    REQUIRE(run.extrapolated_microseconds(spec) == Approx(expected));
}

TEST_CASE("cpu loop: a request to stop ends it") {
    const CpuLoopRun run = time_cpu_loop(resolved(f32_spec(2048, 2048, 2048)), 1, 0, 60, [] { return true; });
    REQUIRE_FALSE(run.whole);
    REQUIRE(run.seconds < 10);
}

TEST_CASE("cpu loop: operands beyond its memory are refused with the bytes") {
    const GemmSpec spec = resolved(f32_spec(100000, 100000, 1));
    REQUIRE(cpu_loop_bytes(spec) == Approx(4.0 * (1e10 + 2e5)));
    REQUIRE_THROWS_AS(time_cpu_loop(spec, 1, 0, 1), Error);
    REQUIRE_THROWS_WITH(time_cpu_loop(spec, 1, 0, 1), Catch::Matchers::ContainsSubstring("37.3 GiB"));
}
