#pragma once

#include "runtime/emulator/tensor_core.hpp"

#include <cstdint>
#include <vector>

/// \file The matrices of an instruction in a warp's registers, and the conversion between fragments and one word per
/// element.

namespace jitgemm::emulator {

[[nodiscard]] int type_bits(MmaType type);

/// The positions of an operand's elements in its matrix: A and C row by row, B by k with its columns contiguous.
struct Fragment {
    int type_bits;
    int elements;                         ///< of a lane
    std::vector<std::uint16_t> position;  ///< of element i of lane l at [32 · i + l]
};

/// An instruction's fragments.
struct MmaPlan {
    MmaKind kind;  ///< without .satfinite
    Fragment a;
    Fragment b;
    Fragment c;
};

/// The plan of a supported kind, else null. Plans are made once and live as long as the program.
[[nodiscard]] const MmaPlan* find_mma_plan(const MmaKind& kind);
[[nodiscard]] const MmaPlan* find_wmma_plan(const MmaKind& kind);

/// Spreads elements of at most 32 bits to one word each.
void gather(const Fragment& fragment, const std::uint32_t* registers, std::uint32_t* matrix);
void scatter(const Fragment& fragment, const std::uint32_t* matrix, std::uint32_t* registers);

}  // namespace jitgemm::emulator
