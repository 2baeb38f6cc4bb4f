#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <vector>

namespace jitgemm {

/// An element of D before it is rounded to D's type, and what an error bound is a part of.
struct ReferenceElement {
    double value = 0;      ///< alpha · Σ a·b + beta · c
    double magnitude = 0;  ///< |alpha| · Σ |a·b| + |beta · c|
};

/// Host copies of the operands, each beginning at its first element, with the spec's leading dimensions. As in BLAS,
/// `a` and `b` are not read when alpha or K is 0, nor `c` when beta is 0.
struct HostOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    const void* c = nullptr;
};

/// Position of an element in a matrix of that order and leading dimension.
[[nodiscard]] std::int64_t element_index(Order order, std::int64_t leading_dimension, std::int64_t row,
                                         std::int64_t column);

[[nodiscard]] ReferenceElement cpu_element(const GemmSpec& resolved_spec, const HostOperands& operands, float alpha,
                                           float beta, std::int64_t row, std::int64_t column);

/// Every element of D, row by row whatever D's order. A plain triple loop in double precision, for small problems.
[[nodiscard]] std::vector<ReferenceElement> cpu_reference(const GemmSpec& resolved_spec, const HostOperands& operands,
                                                          float alpha, float beta);

}  // namespace jitgemm
