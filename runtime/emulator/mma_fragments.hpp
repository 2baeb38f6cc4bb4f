#pragma once

#include "runtime/emulator/tensor_core.hpp"

#include <array>
#include <cstdint>

/// \file How a warp's registers hold the matrices of an instruction: between fragments and one word an element.

namespace jitgemm::emulator {

[[nodiscard]] int type_bits(MmaType type);

/// A row by row, B by k with its columns contiguous; elements in the low bits of a word.
struct WordMatrices {
    std::array<std::uint32_t, 16 * 64> a;
    std::array<std::uint32_t, 64 * 8> b;
};

/// mma.sync: layouts of the PTX ISA, "Matrix Fragments for mma". All but f64.
struct MmaFragments {
    static void gather_a(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix);
    static void gather_b(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix);
    static void gather_c(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix);
    static void scatter_c(const MmaKind& kind, const std::uint32_t* matrix, std::uint32_t* registers);
};

/// wmma: the layout of tensor_core.hpp.
struct WmmaFragments {
    static void gather_a(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix);
    static void gather_b(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix);
    static void gather_c(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix);
    static void scatter_c(const MmaKind& kind, const std::uint32_t* matrix, std::uint32_t* registers);
};

}  // namespace jitgemm::emulator
