#pragma once

#include "runtime/emulator/program.hpp"
#include "runtime/emulator/ptx.hpp"

namespace jitgemm::emulator {

/// Resolves every instruction to the function that executes it and its operands to rows. Throws PtxError with line and
/// text of an instruction or modifier the emulator does not have.
[[nodiscard]] DecodedProgram decode(const ptx::Module& module);

}  // namespace jitgemm::emulator
