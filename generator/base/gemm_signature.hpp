#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <optional>

namespace jitgemm {

/// What a kernel must know of the problem at compile time; m, n, k and leading dimensions stay run-time arguments.
/// D is always row-major here: a column-major one is turned around first (with_row_major_d).
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
    bool batched = false;
    GemmEpilogue epilogue = {};
    friend bool operator==(const GemmSignature&, const GemmSignature&) = default;
};

/// The signature of a spec (any D order, resolved or not). Throws SpecError as resolved() does.
[[nodiscard]] GemmSignature signature(const GemmSpec& spec);
/// The same of a spec that is resolved and row-major in D already, as families are given it: thousands of candidates ask.
[[nodiscard]] GemmSignature signature_of_resolved(const GemmSpec& row_major);

}  // namespace jitgemm
