#include "tests/support/plain_gemm.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <limits>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

const std::vector<float> kA = {1, 2, 3, 4, 5, 6};       // 2×3, row by row
const std::vector<float> kB = {1, 2, 3, 4, 5, 6};       // 3×2, row by row
const std::vector<double> kProduct = {22, 28, 49, 64};  // worked out by hand

GemmSpec small(GemmLayout layout) {
    return resolved(
        {.m = 2, .n = 2, .k = 3, .a = DataType::f32, .b = DataType::f32, .d = DataType::f32, .layout = layout});
}

/// The row-by-row matrix in another order with a padded leading dimension.
std::vector<float> stored(const std::vector<float>& rows, std::int64_t columns, Order order, std::int64_t ld) {
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<float> result(static_cast<std::size_t>(count * ld), std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t i = 0; i < count; ++i)
        result[static_cast<std::size_t>(element_index(order, ld, i / columns, i % columns))] =
            rows[static_cast<std::size_t>(i)];
    return result;
}

}  // namespace

TEST_CASE("the plain formula multiplies a matrix worked out by hand, in every layout and with padding") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        INFO(to_string(layout));
        GemmSpec spec = small(layout);
        spec.lda = spec.ldb = 7;
        const std::vector<float> a = stored(kA, 3, order_a(layout), 7);
        const std::vector<float> b = stored(kB, 2, order_b(layout), 7);
        for (std::int64_t i = 0; i < 4; ++i)
            CHECK(plain_element(spec, {.a = a.data(), .b = b.data()}, 1, 0, i / 2, i % 2) ==
                  kProduct[static_cast<std::size_t>(i)]);
    }
}

TEST_CASE("alpha, beta and C of either order, and operands that BLAS does not read") {
    GemmSpec spec = small(GemmLayout::tt);
    spec.c = DataType::f32;
    spec.d_order = Order::column;
    spec.ldc = 2;
    const std::vector<float> c = {10, 30, 20, 40};  // column by column
    const PlainOperands all{.a = kA.data(), .b = kB.data(), .c = c.data()};
    CHECK(plain_element(spec, all, -2, 0.5F, 0, 1) == -2 * 28 + 10);
    CHECK(plain_element(spec, all, -2, 0.5F, 1, 0) == -2 * 49 + 15);
    CHECK(plain_element(spec, {.c = c.data()}, 0, 2, 1, 1) == 80);
    CHECK(plain_element(spec, {.a = kA.data(), .b = kB.data()}, 1, 0, 1, 1) == 64);
}
