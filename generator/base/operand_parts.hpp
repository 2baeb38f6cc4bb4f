#pragma once

#include "jitgemm/data_type.hpp"
#include "jitgemm/gemm_spec.hpp"

namespace jitgemm {

/// \file f32 operands that tensor cores multiply: as tf32, or in parts. The first part is the element rounded. Each
/// other part is the rest, rounded. Part i of A is multiplied by part j of B where i + j is the number of a part. `of`
/// is a GemmSpec or a GemmSignature.

/// A copy in parts has groups of this many of K: all first parts, then all second ones, and so on.
inline constexpr int kGroupOfParts = 32;

/// The parts of an element.
struct OperandParts {
    DataType type = DataType::f16;
    int count = 2;
    bool are_scaled = false;  ///< whether a power of two keeps the elements of a line in the range of `type`

    /// Products of parts that are added.
    [[nodiscard]] constexpr int terms() const { return count * (count + 1) / 2; }
    /// Elements of 32 bits that a group takes in a copy.
    [[nodiscard]] int group_words() const { return kGroupOfParts * count * bytes(type) / kWordBytes; }
    /// Passes over the operand in memory: elements are scaled when the largest of their line is known.
    [[nodiscard]] constexpr int passes() const { return are_scaled ? 2 : 1; }

private:
    static constexpr int kWordBytes = 4;
};

[[nodiscard]] constexpr bool has_parts(Math math) { return math != Math::ieee && math != Math::tf32; }
[[nodiscard]] bool has_parts(const auto& of) { return has_parts(of.math); }

/// Of a math that has parts.
[[nodiscard]] constexpr OperandParts parts_of_math(Math math) {
    switch (math) {
        case Math::bf16x3: return {DataType::bf16, 2, true};
        case Math::bf16x6: return {DataType::bf16, 3, false};
        case Math::tf32x3: return {DataType::tf32, 2, false};
        default: return {DataType::f16, 2, true};
    }
}

/// Whether each line of an operand has a power of two.
[[nodiscard]] bool scales_lines(const auto& of) { return has_parts(of) && parts_of_math(of.math).are_scaled; }

/// The type that instructions multiply.
[[nodiscard]] DataType multiplied_type(const auto& of) {
    if (has_parts(of)) return parts_of_math(of.math).type;
    return of.math == Math::tf32 ? DataType::tf32 : of.a;
}

}  // namespace jitgemm
