#pragma once

#include "generator/base/gemm_signature.hpp"

#include <string>

namespace jitgemm {

/// What a kernel's epilogue finishes at a time.
enum class FinishedUnit {
    element,      ///< one float; C's element, if there is one, is read by `finish`
    with_read_c,  ///< one float; C's element has been read before, as 0 where C is not read
    pair,         ///< a float2: two neighbouring columns
    atom          ///< an Atom: the two pairs that a thread has of a wgmma's eight columns
};

/// Text of epilogue_expression.cuh: `finish`, the one function that makes elements of D from sums. Nothing else in a
/// kernel combines alpha, beta and C. A kernel with C gets `c_factor` as well.
[[nodiscard]] std::string epilogue_expression(const GemmSignature& signature, FinishedUnit unit);

}  // namespace jitgemm
