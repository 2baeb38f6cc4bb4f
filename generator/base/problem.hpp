#pragma once

#include "generator/base/gemm_signature.hpp"

namespace jitgemm {

/// A problem as kernels are chosen and made for it. problem_of() makes it once, where a request comes in.
struct Problem {
    GemmSpec asked;           ///< what the caller means, with all leading dimensions and alignments as numbers
    GemmSpec row_major;       ///< what kernels compute: the same problem with a row-major D
    GemmSignature signature;  ///< of row_major
    bool transposed = false;  ///< row_major asks for the transpose of D: its A is the caller's B
};

/// Throws SpecError with all problems() of the spec.
[[nodiscard]] Problem problem_of(const GemmSpec& spec);

}  // namespace jitgemm
