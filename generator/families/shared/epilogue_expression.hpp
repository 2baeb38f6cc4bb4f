#pragma once

#include "generator/base/gemm_signature.hpp"

#include <string>

namespace jitgemm {

/// The unit of sums that a kernel's epilogue finishes in one call.
enum class FinishedUnit {
    element,      ///< one float; `finish` reads C's element, if there is one
    with_read_c,  ///< one float; C's element was read before, and is 0 if C is not read
    pair,         ///< a float2: two neighbouring columns
    atom          ///< an Atom: the two pairs that a thread has of a wgmma's eight columns
};

/// The text of epilogue_expression.cuh: the function `finish`, which makes elements of D from sums. No other code of a
/// kernel combines alpha, beta and C. A kernel with C gets `c_factor`, too. A problem with an epilogue in words has
/// epilogue_element().
[[nodiscard]] std::string epilogue_expression(const GemmSignature& signature, FinishedUnit unit);

}  // namespace jitgemm
