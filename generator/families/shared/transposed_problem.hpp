#pragma once

#include "generator/base/gemm_signature.hpp"

namespace jitgemm {

/// D^T = B^T A^T of a problem that is row-major in D: m is the n that was asked for, and A is B^T. What is said of D (its alignment, ldd)
/// stays D's own.
[[nodiscard]] GemmSpec transposed_problem(const GemmSpec& row_major);
[[nodiscard]] GemmSignature transposed_problem(const GemmSignature& signature);

}  // namespace jitgemm
