#pragma once

#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/tensor_core.hpp"
#include "runtime/emulator/warp.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace jitgemm::emulator {

[[nodiscard]] std::optional<MmaType> mma_type(std::string_view ptx_name);

/// Takes "m16n8k16" into the kind's m, n, k; unsupported if the next modifier is not a shape.
void take_mma_shape(InstructionDecoder& decoder, MmaKind& kind);

/// Details of mma.sync and wmma.mma. The values are registers of D, A, B and C in turn, this many of each.
struct MmaDetail {
    MmaKind kind{};
    MmaRegisters registers{};  ///< 32-bit registers per lane
    bool doublewords = false;  ///< f64: each PTX register holds two of them
};

using MmaFunction = void (*)(const MmaKind& kind, TensorCoreModel model, const std::uint32_t* a, const std::uint32_t* b,
                             const std::uint32_t* c, std::uint32_t* d);

/// Gathers the operands, multiplies, and writes D.
void execute_mma_operands(Warp& warp, const Instruction& instruction, Mask mask, MmaFunction multiply);

/// Appends the registers of D, A, B, C.
void add_mma_operands(InstructionDecoder& decoder, const MmaDetail& detail);

}  // namespace jitgemm::emulator
