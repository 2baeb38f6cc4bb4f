#pragma once

#include "generator/base/gemm_signature.hpp"

namespace jitgemm {

/// A problem in the form in which kernels are chosen and made for it. problem_of() makes it once, when a request comes
/// in.
struct Problem {
    GemmSpec asked;           ///< the caller's problem, with all leading dimensions and alignments as numbers
    GemmSpec row_major;       ///< the problem that kernels compute: the same one with a row-major D
    GemmSignature signature;  ///< of row_major
    bool transposed = false;  ///< whether row_major computes the transpose of D: its A is then the caller's B
};

/// Throws SpecError with all problems() of the spec.
[[nodiscard]] Problem problem_of(const GemmSpec& spec);

}  // namespace jitgemm
