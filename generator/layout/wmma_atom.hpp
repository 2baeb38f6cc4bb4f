#pragma once

#include "generator/layout/mma_atom.hpp"

#include <span>

namespace jitgemm {

/// One shape and types of wmma.mma: D (m, n) = A (m, k) · B (k, n) + C. The ISA fixes how many elements a lane holds,
/// but not which ones. Source: PTX ISA, "Matrix Fragments for WMMA".
struct WmmaAtom {
    TileShape shape;
    MmaType type;         ///< of A and B
    MmaType accumulator;  ///< of C and D

    [[nodiscard]] int elements(Operand operand) const;   ///< of a fragment in a lane
    [[nodiscard]] int registers(Operand operand) const;  ///< 32-bit registers they take
};

/// m16n16k16, m32n8k16 and m8n32k16 of f16 (f16 or f32 sums) and bf16 (f32 sums).
[[nodiscard]] std::span<const WmmaAtom> wmma_atom_table();

/// The row of this shape and types, or null.
[[nodiscard]] const WmmaAtom* find_wmma_atom(TileShape shape, DataType a, DataType b, DataType accumulator);

/// Elements of a fragment in a lane. f16 fragments of A and B always have sixteen, so that they hold the smaller
/// matrices more than once. All others hold theirs once.
[[nodiscard]] constexpr int wmma_elements(TileShape shape, Operand operand, MmaType type) {
    constexpr int kF16Elements = 16;
    constexpr int kLanes = 32;
    if (operand == Operand::c) return shape.m * shape.n / kLanes;
    if (type == MmaType::f16) return kF16Elements;
    return (operand == Operand::a ? shape.m : shape.n) * shape.k / kLanes;
}

}  // namespace jitgemm
