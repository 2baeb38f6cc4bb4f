#pragma once

#include "generator/base/operand_parts.hpp"
#include "jitgemm/gemm_spec.hpp"

namespace jitgemm {

/// The K after which promoted sums of 8-bit floats begin anew.
inline constexpr int kPromotedK = 128;

/// The K after which sums of tensor cores begin anew; 0: never. Tensor cores cut sums of f32 operands' parts toward
/// zero, which costs long sums more bits than the split does.
[[nodiscard]] inline int promoted_k(const GemmSpec& spec) {
    if (has_parts(spec)) return kGroupOfParts;
    return has_promoted_sums(spec) ? kPromotedK : 0;
}

}  // namespace jitgemm
