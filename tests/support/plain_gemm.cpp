#include "tests/support/plain_gemm.hpp"

#include "runtime/support/element_codec.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>

namespace jitgemm::testing {
namespace {

double activation_of(Activation activation, double x) {
    if (activation == Activation::relu) return std::fmax(x, 0);
    if (activation == Activation::gelu)
        return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3))));
    if (activation == Activation::silu) return x * (1 / (1 + std::exp(-x)));
    return x;
}

/// `vector`: the row of A or column of B, of so many per matrix.
double factor(ScaleFactors scale, const void* factors, std::int64_t matrix, std::int64_t vectors, std::int64_t vector,
              std::int64_t depth, std::int64_t k) {
    const std::int64_t place = matrix * vectors + vector;
    if (scale == ScaleFactors::none) return 1;
    if (scale == ScaleFactors::per_tensor) return element_value(factors, DataType::f32, 0);
    if (scale == ScaleFactors::per_vector) return element_value(factors, DataType::f32, place);
    return element_value(factors, DataType::f32, place * ((depth + 127) / 128) + k / 128);
}

double sum_of_products(const GemmSpec& s, const PlainOperands& from, std::int64_t batch, std::int64_t row,
                       std::int64_t column) {
    const std::int64_t stride_a = s.batch_stride_a.value_or(0);
    const std::int64_t stride_b = s.batch_stride_b.value_or(0);
    double sum = 0;
    for (std::int64_t k = 0; k < s.k; ++k) {
        const std::int64_t at_a = batch * stride_a + element_index(order_a(s.layout), s.lda, row, k);
        const std::int64_t at_b = batch * stride_b + element_index(order_b(s.layout), s.ldb, k, column);
        sum += element_value(from.a, s.a, at_a) * element_value(from.b, s.b, at_b) *
               factor(s.epilogue.scale_a, from.scale_a, stride_a == 0 ? 0 : batch, s.m, row, s.k, k) *
               factor(s.epilogue.scale_b, from.scale_b, stride_b == 0 ? 0 : batch, s.n, column, s.k, k);
    }
    return sum;
}

}  // namespace

PlainOperands plain_operands(const GuardedProblem& problem) {
    const Check request = problem.request();
    const auto data = [](const DeviceMatrix& matrix) { return reinterpret_cast<const void*>(matrix.data.address); };
    return {data(request.a),        data(request.b),       data(request.c),       data(request.bias),
            data(request.residual), data(request.scale_a), data(request.scale_b), data(request.scale_d)};
}

std::int64_t element_index(Order order, std::int64_t leading_dimension, std::int64_t row, std::int64_t column) {
    return order == Order::row ? row * leading_dimension + column : column * leading_dimension + row;
}

double plain_element(const GemmSpec& s, const PlainOperands& from, float alpha, float beta, std::int64_t batch,
                     std::int64_t row, std::int64_t column) {
    const GemmEpilogue& epilogue = s.epilogue;
    double x = 0;
    if (alpha != 0.0F) x = static_cast<double>(alpha) * sum_of_products(s, from, batch, row, column);
    const std::int64_t in_c = batch * s.batch_stride_c.value_or(0) + element_index(s.d_order, s.ldc, row, column);
    if (s.c && beta != 0.0F) x += static_cast<double>(beta) * element_value(from.c, *s.c, in_c);
    if (epilogue.bias != Bias::none)
        x += element_value(from.bias, epilogue.bias_type, epilogue.bias == Bias::per_row ? row : column);
    double value = activation_of(epilogue.activation, x);
    const std::int64_t in_d = batch * s.batch_stride_d.value_or(0) + element_index(s.d_order, s.ldd, row, column);
    if (epilogue.residual) value += element_value(from.residual, *epilogue.residual, in_d);
    if (epilogue.scale_d != ScaleFactors::none) value *= element_value(from.scale_d, DataType::f32, 0);
    return value;
}

void store_element(const GemmSpec& s, void* d, std::int64_t batch, std::int64_t row, std::int64_t column,
                   double value) {
    const std::uint32_t bits = element_bits(value, s.d);
    const std::int64_t index = batch * s.batch_stride_d.value_or(0) + element_index(s.d_order, s.ldd, row, column);
    const auto size = static_cast<std::size_t>(bytes(s.d));
    std::memcpy(static_cast<std::byte*>(d) + static_cast<std::size_t>(index) * size, &bits, size);
}

void compute_plainly(const GemmSpec& s, const PlainOperands& from, float alpha, float beta, void* d) {
    for (std::int64_t batch = 0; batch < s.batch; ++batch)
        for (std::int64_t row = 0; row < s.m; ++row)
            for (std::int64_t column = 0; column < s.n; ++column)
                store_element(s, d, batch, row, column, plain_element(s, from, alpha, beta, batch, row, column));
}

}  // namespace jitgemm::testing
