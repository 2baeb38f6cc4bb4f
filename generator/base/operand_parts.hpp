#pragma once

#include "jitgemm/gemm_spec.hpp"

namespace jitgemm {

/// \file f32 operands that tensor cores multiply: as tf32, or in parts of 16 bits (Math::f16x3, Math::bf16x3). An
/// element is the sum of an upper and a lower part. The product of two lower parts is left out. `of` is a GemmSpec or a
/// GemmSignature.

[[nodiscard]] bool has_parts(const auto& of) { return of.math == Math::f16x3 || of.math == Math::bf16x3; }

/// The type that instructions multiply.
[[nodiscard]] DataType multiplied_type(const auto& of) {
    switch (of.math) {
        case Math::f16x3: return DataType::f16;
        case Math::bf16x3: return DataType::bf16;
        case Math::tf32: return DataType::tf32;
        case Math::ieee: break;
    }
    return of.a;
}

/// A copy in parts has groups of this many of K: first their upper parts, then their lower ones. A group is a row of a
/// panel (templates/wgmma/operand_k_major.cuh).
inline constexpr int kGroupOfParts = 32;

/// Products of parts that are added.
inline constexpr int kTermsOfParts = 3;

}  // namespace jitgemm
