#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/operand_parts.hpp"
#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/shared/tensor_core_geometry.hpp"
#include "generator/layout/mma_atom.hpp"

namespace jitgemm {

/// The mma.sync of the config's shape that multiplies elements of these types, or null. f32 is multiplied as tf32.
[[nodiscard]] const MmaAtom* atom_of(const auto& of, const MmaMultistageConfig& config) {
    const auto multiplied = [](DataType type) { return type == DataType::f32 ? DataType::tf32 : type; };
    return find_mma_atom(config.mma, multiplied(of.a), multiplied(of.b), of.accumulator);
}

/// Whether shared memory must hold operands with K contiguous: ldmatrix transposes elements of 16 bits, and words are
/// loaded one by one, but nothing transposes bytes. Operands that lie otherwise are copied first.
[[nodiscard]] inline bool needs_k_major(DataType factor) { return bytes(factor) == 1; }

/// The parts in which registers hold an operand: of tf32, whatever the math is. They are as exact as any others.
[[nodiscard]] int parts_in_registers(const auto& of) { return has_parts(of) ? 2 : 1; }

/// Everything that follows from signature and config alone. tiling_lines() prints the part that the kernel needs. It
/// never throws: the constraints report divisions with a remainder.
[[nodiscard]] TensorCoreGeometry geometry(const GemmSignature& signature, const MmaMultistageConfig& config);

/// Whether the epilogue rearranges sums of 32 bits through shared memory, and then makes elements of D of them. Else it
/// rearranges elements of D.
[[nodiscard]] bool stages_sums(const GemmSignature& signature, const MmaMultistageConfig& config);

}  // namespace jitgemm
