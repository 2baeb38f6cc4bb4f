#include "tests/support/plain_gemm.hpp"

#include "runtime/support/element_codec.hpp"

#include <cstddef>
#include <cstring>

namespace jitgemm::testing {
namespace {

double sum_of_products(const GemmSpec& s, const PlainOperands& from, std::int64_t row, std::int64_t column) {
    double sum = 0;
    for (std::int64_t k = 0; k < s.k; ++k)
        sum += element_value(from.a, s.a, element_index(order_a(s.layout), s.lda, row, k)) *
               element_value(from.b, s.b, element_index(order_b(s.layout), s.ldb, k, column));
    return sum;
}

}  // namespace

PlainOperands plain_operands(const GuardedProblem& problem) {
    const Check request = problem.request();
    const auto data = [](const DeviceMatrix& matrix) { return reinterpret_cast<const void*>(matrix.data.address); };
    return {data(request.a), data(request.b), data(request.c)};
}

std::int64_t element_index(Order order, std::int64_t leading_dimension, std::int64_t row, std::int64_t column) {
    return order == Order::row ? row * leading_dimension + column : column * leading_dimension + row;
}

double plain_element(const GemmSpec& s, const PlainOperands& from, float alpha, float beta, std::int64_t row,
                     std::int64_t column) {
    double value = 0;
    if (alpha != 0.0F) value = static_cast<double>(alpha) * sum_of_products(s, from, row, column);
    const std::int64_t in_c = element_index(s.d_order, s.ldc, row, column);
    if (s.c && beta != 0.0F) value += static_cast<double>(beta) * element_value(from.c, *s.c, in_c);
    return value;
}

void store_element(const GemmSpec& s, void* d, std::int64_t row, std::int64_t column, double value) {
    const std::uint32_t bits = element_bits(value, s.d);
    const auto index = static_cast<std::size_t>(element_index(s.d_order, s.ldd, row, column));
    const auto size = static_cast<std::size_t>(bytes(s.d));
    std::memcpy(static_cast<std::byte*>(d) + index * size, &bits, size);
}

void compute_plainly(const GemmSpec& s, const PlainOperands& from, float alpha, float beta, void* d) {
    for (std::int64_t row = 0; row < s.m; ++row)
        for (std::int64_t column = 0; column < s.n; ++column)
            store_element(s, d, row, column, plain_element(s, from, alpha, beta, row, column));
}

}  // namespace jitgemm::testing
