#pragma once

#include "runtime/emulator/instruction_decoder.hpp"

#include <string_view>

namespace jitgemm::emulator {

void decode_integer(InstructionDecoder& decoder);
void decode_float_arithmetic(InstructionDecoder& decoder);  ///< of a mnemonic that also exists for integers
[[nodiscard]] bool is_float_type(std::string_view name);

}  // namespace jitgemm::emulator
