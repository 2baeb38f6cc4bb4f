#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <optional>

namespace jitgemm {

/// What a kernel must know of the problem at compile time; m, n, k and leading dimensions stay run-time arguments.
/// D is always row-major here: Problem::row_major.
struct GemmSignature {
    GemmLayout layout = GemmLayout::tn;
    DataType a = DataType::bf16;
    DataType b = DataType::bf16;
    std::optional<DataType> c;
    DataType d = DataType::bf16;
    DataType accumulator = DataType::f32;
    int align_a = 16;  ///< bytes
    int align_b = 16;
    int align_d = 16;  ///< bytes of D; where C is less aligned, as few elements as C's alignment allows

    friend bool operator==(const GemmSignature&, const GemmSignature&) = default;
};

}  // namespace jitgemm
