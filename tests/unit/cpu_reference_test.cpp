#include "runtime/verify/cpu_reference.hpp"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <limits>

using namespace jitgemm;

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

TEST_CASE("the CPU reference multiplies a matrix worked out by hand, in every layout and with padding") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        INFO(to_string(layout));
        GemmSpec spec = small(layout);
        spec.lda = spec.ldb = 7;
        const std::vector<float> a = stored(kA, 3, order_a(layout), 7);
        const std::vector<float> b = stored(kB, 2, order_b(layout), 7);
        const std::vector<ReferenceElement> d = cpu_reference(spec, {.a = a.data(), .b = b.data()}, 1, 0);
        REQUIRE(d.size() == 4);
        for (std::size_t i = 0; i < 4; ++i) CHECK(d[i].value == kProduct[i]);
    }
}

TEST_CASE("alpha, beta and C of either order") {
    GemmSpec spec = small(GemmLayout::tt);
    spec.c = DataType::f32;
    spec.d_order = Order::column;
    spec.ldc = 2;
    const std::vector<float> c = {10, 30, 20, 40};  // column by column
    const std::vector<ReferenceElement> d =
        cpu_reference(spec, {.a = kA.data(), .b = kB.data(), .c = c.data()}, -2, 0.5F);
    CHECK(d[0].value == -2 * 22 + 5);
    CHECK(d[1].value == -2 * 28 + 10);
    CHECK(d[2].value == -2 * 49 + 15);
    CHECK(d[3].magnitude == 2 * 64 + 20);
}

TEST_CASE("operands that BLAS does not read are not read") {
    GemmSpec spec = small(GemmLayout::tt);
    spec.c = DataType::f32;
    spec.ldc = 2;
    const std::vector<float> c = {1, 2, 3, 4};
    CHECK(cpu_element(spec, {.c = c.data()}, 0, 2, 1, 1).value == 8);
    CHECK(cpu_element(spec, {.a = kA.data(), .b = kB.data()}, 1, 0, 1, 1).value == 64);
    spec.k = 0;
    CHECK(cpu_element(spec, {.c = c.data()}, 1, 2, 0, 1).value == 4);
}
