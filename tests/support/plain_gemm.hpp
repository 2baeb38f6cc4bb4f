#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "runtime/verify/guarded_problem.hpp"

#include <cstdint>

namespace jitgemm::testing {

/// Host copies of the operands, each beginning at its first element; those the spec doesn't have may be null.
struct PlainOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    const void* c = nullptr;
};

/// Of a problem on a device with the host's memory.
[[nodiscard]] PlainOperands plain_operands(const GuardedProblem& problem);

/// Position of an element in a matrix of that order and leading dimension.
[[nodiscard]] std::int64_t element_index(Order order, std::int64_t leading_dimension, std::int64_t row,
                                         std::int64_t column);

/// An element of D before it is rounded to D's type, as gemm_spec.hpp says to the letter: a triple loop in double
/// precision that shares nothing with runtime/verify.
[[nodiscard]] double plain_element(const GemmSpec& resolved_spec, const PlainOperands& operands, float alpha,
                                   float beta, std::int64_t row, std::int64_t column);

/// Rounded into its place in D.
void store_element(const GemmSpec& resolved_spec, void* d, std::int64_t row, std::int64_t column, double value);

/// Computes D as a right kernel does.
void compute_plainly(const GemmSpec& resolved_spec, const PlainOperands& operands, float alpha, float beta, void* d);

}  // namespace jitgemm::testing
