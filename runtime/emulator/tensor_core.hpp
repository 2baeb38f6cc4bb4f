#pragma once

#include "generator/layout/mma_atom.hpp"
#include "generator/layout/mma_type.hpp"

#include <cstdint>
#include <span>
#include <string>

/// \file The results of mma.sync and wmma.mma, bit for bit. Tensor cores do not add as IEEE 754 says:
/// docs/emulator-numerics.md has the model, its sources and its uncertain points.

namespace jitgemm::emulator {

using jitgemm::MmaType;

/// One instruction: D = A·B + C, where A is m × k, B is k × n, and C and D are m × n. c and d are the same type.
struct MmaKind {
    int m;
    int n;
    int k;
    MmaType a;
    MmaType b;
    MmaType c;
    MmaType d;
    bool saturate = false;  ///< .satfinite of integers: the sum is clamped to s32 and does not wrap
    friend bool operator==(const MmaKind&, const MmaKind&) = default;
};

/// "m16n8k16.f32.bf16.bf16.f32"
[[nodiscard]] std::string to_string(const MmaKind& kind);

/// Generations of tensor cores with the same sums.
enum class TensorCoreModel : std::uint8_t { turing, ampere, ada, hopper, blackwell, blackwell_rtx };

/// The model of a compute capability (10 · major + minor: 80, 90, 121). Throws SpecError for one below 75.
[[nodiscard]] TensorCoreModel tensor_core_model(int compute_capability);

/// The shapes and types of mma.sync that `mma` knows, for any architecture. They have no .satfinite; all integer kinds
/// take it.
[[nodiscard]] std::span<const MmaKind> mma_kinds();
[[nodiscard]] bool is_supported(const MmaKind& kind);
/// The same, and this generation of tensor cores has the kind.
[[nodiscard]] bool is_supported(const MmaKind& kind, TensorCoreModel model);

/// 32-bit registers of each operand in a lane. An f64 takes two, the low word first.
struct MmaRegisters {
    int a;
    int b;
    int c;  ///< also of D
};
[[nodiscard]] MmaRegisters mma_registers(const MmaKind& kind);

/// Elements of an operand in a lane, and the position of element i: bits i·w … of the registers taken as one string,
/// where w is the width of the type. Coordinates are (m, k) of A, (n, k) of B, (m, n) of C and D.
[[nodiscard]] int mma_elements(const MmaKind& kind, Operand operand);
[[nodiscard]] Coordinate mma_coordinate(const MmaKind& kind, Operand operand, int lane, int element);

/// One warp's mma.sync. `registers[r * 32 + lane]`, with r in the order of the PTX operand; d may alias c. Throws
/// SpecError with the kind if `is_supported(kind, model)` is false.
void mma(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
         const std::uint32_t* c, std::uint32_t* d);

/// The types of a wgmma.
struct WgmmaTypes {
    MmaType a;
    MmaType b;
    MmaType sums;
};

/// A warp's share of a wgmma: 16 rows of A (16 × k, row by row) times B (k × n, its columns contiguous), one word per
/// element, added to `c` (16 × n, row by row). k is 16, of 8-bit operands 32. n is a multiple of 8.
void wgmma_rows(const WgmmaTypes& types, int n, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c);

// ---- wmma: m16n16k16, m32n8k16, m8n32k16 of f16 (f16 or f32 sums) and bf16 (f32 sums) -------------------------------
// The ISA does not specify the place of a fragment in a warp. Here element i of lane l is number (e·l + i) of the
// operand, row by row (A by m, B by n, C by m), with e elements per lane. f16 fragments of A and B always have 16
// elements per lane, and hold the smaller matrices more than once.
[[nodiscard]] bool is_supported_wmma(const MmaKind& kind);
[[nodiscard]] MmaRegisters wmma_registers(const MmaKind& kind);
[[nodiscard]] int wmma_elements(const MmaKind& kind, Operand operand);
[[nodiscard]] Coordinate wmma_coordinate(const MmaKind& kind, Operand operand, int lane, int element);
void wmma(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
          const std::uint32_t* c, std::uint32_t* d);

}  // namespace jitgemm::emulator
