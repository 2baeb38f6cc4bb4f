#pragma once

#include "generator/layout/bank_conflicts.hpp"
#include "runtime/emulator/tensor_core.hpp"
#include "tests/support/random_bits.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

/// \file A warp's registers of one mma, read and written element by element, and what the elements mean as numbers.

namespace jitgemm::testing {

/// Where register `index` of a lane lies among the warp's.
[[nodiscard]] inline std::size_t position(int index, int lane) {
    return static_cast<std::size_t>(index) * kWarpLanes + static_cast<std::size_t>(lane);
}

/// mma.m16n8k16 of f16 and of bf16, with sums of f32.
inline constexpr emulator::MmaKind kF16{16, 8, 16, MmaType::f16, MmaType::f16, MmaType::f32, MmaType::f32};
inline constexpr emulator::MmaKind kBf16{16, 8, 16, MmaType::bf16, MmaType::bf16, MmaType::f32, MmaType::f32};

/// Of an element in a register.
[[nodiscard]] int bits_of(MmaType type);
[[nodiscard]] DataType data_type(MmaType type);
/// The number that the bits are, of tf32 without those that the hardware cuts off.
[[nodiscard]] double number(MmaType type, std::uint32_t bits);
/// Random finite bits of a type, with exponents of all sizes or close together.
[[nodiscard]] std::uint32_t random_element(RandomBits& random, MmaType type, bool wide);

/// A warp's registers of the three operands, all zero at first. Coordinates are those of emulator::mma_coordinate,
/// elements of at most 32 bits.
struct MmaWarp {
    explicit MmaWarp(const emulator::MmaKind& mma_kind, bool is_wmma = false);

    [[nodiscard]] std::vector<std::uint32_t>& of(Operand operand);
    [[nodiscard]] const std::vector<std::uint32_t>& of(Operand operand) const;
    [[nodiscard]] MmaType type(Operand operand) const;
    [[nodiscard]] int elements(Operand operand) const;
    [[nodiscard]] Coordinate coordinate(Operand operand, int lane, int i) const;

    /// Everywhere the element lies: fragments of wmma may hold it more than once.
    void set(Operand operand, Coordinate at, std::uint32_t bits);
    /// FAILs where no lane holds the element.
    [[nodiscard]] std::uint32_t get(Operand operand, Coordinate at) const;
    /// All of A and B by random_element.
    void draw_operands(RandomBits& random, bool wide);
    /// D takes the place of C.
    void run(emulator::TensorCoreModel model);

    emulator::MmaKind kind;
    bool wmma_form;
    std::vector<std::uint32_t> a;
    std::vector<std::uint32_t> b;
    std::vector<std::uint32_t> c;
};

}  // namespace jitgemm::testing
