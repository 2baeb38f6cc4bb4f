#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/epilogue/default_texts.hpp"

#include <string>

namespace jitgemm {

/// The text of epilogue_expression.cuh: the function `finish`, which makes elements of D from sums. No other code of a
/// kernel combines alpha, beta and C. A kernel with C gets `c_factor`, too. A problem with an epilogue in words has
/// epilogue_element().
[[nodiscard]] std::string epilogue_expression(const GemmSignature& signature, FinishUnit unit);

}  // namespace jitgemm
