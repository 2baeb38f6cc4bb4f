#pragma once

#include "runtime/emulator/program.hpp"
#include "runtime/emulator/ptx.hpp"

namespace jitgemm::emulator {

/// Finds the function that executes each instruction, and the rows of its operands. Throws PtxError with line and text
/// for an instruction or modifier that the emulator does not have.
[[nodiscard]] DecodedProgram decode(const ptx::Module& module);

}  // namespace jitgemm::emulator
