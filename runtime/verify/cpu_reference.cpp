#include "runtime/verify/cpu_reference.hpp"

#include "runtime/support/element_codec.hpp"

#include <cmath>

namespace jitgemm {

std::int64_t element_index(Order order, std::int64_t leading_dimension, std::int64_t row, std::int64_t column) {
    return order == Order::row ? row * leading_dimension + column : column * leading_dimension + row;
}

ReferenceElement cpu_element(const GemmSpec& spec, const HostOperands& operands, float alpha, float beta,
                             std::int64_t row, std::int64_t column) {
    ReferenceElement sum;
    if (alpha != 0.0F) {
        for (std::int64_t k = 0; k < spec.k; ++k) {
            const double product =
                element_value(operands.a, spec.a, element_index(order_a(spec.layout), spec.lda, row, k)) *
                element_value(operands.b, spec.b, element_index(order_b(spec.layout), spec.ldb, k, column));
            sum.value += product;
            sum.magnitude += std::fabs(product);
        }
    }
    double addend = 0;
    if (spec.c && beta != 0.0F)
        addend = static_cast<double>(beta) *
                 element_value(operands.c, *spec.c, element_index(spec.d_order, spec.ldc, row, column));
    const double factor = static_cast<double>(alpha);
    return {factor * sum.value + addend, std::fabs(factor) * sum.magnitude + std::fabs(addend)};
}

std::vector<ReferenceElement> cpu_reference(const GemmSpec& spec, const HostOperands& operands, float alpha,
                                            float beta) {
    std::vector<ReferenceElement> elements;
    elements.reserve(static_cast<std::size_t>(spec.m) * static_cast<std::size_t>(spec.n));
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column)
            elements.push_back(cpu_element(spec, operands, alpha, beta, row, column));
    return elements;
}

}  // namespace jitgemm
