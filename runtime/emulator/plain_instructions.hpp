#pragma once

#include "runtime/emulator/instruction_decoder.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

/// A plain instruction: its whole opcode, the types of its operands ("www": see operand_type; the first is written) and
/// the function that executes it.
struct PlainInstruction {
    std::string opcode;
    std::string operands;
    InstructionKind kind;
    Handler handler;
};

/// Instructions by opcode.
class PlainInstructions {
public:
    explicit PlainInstructions(const std::vector<PlainInstruction>& rows);
    /// Decodes by the row of the instruction's opcode; unsupported if there is none.
    void decode(InstructionDecoder& decoder) const;

private:
    std::unordered_map<std::string, PlainInstruction> rows_;
};

/// PTX's name of an integer type, and the letter of its operands.
template <typename T>
[[nodiscard]] std::string integer_name() {
    return (T(-1) < T(0) ? "s" : "u") + std::to_string(8 * sizeof(T));
}
template <typename T>
[[nodiscard]] char integer_letter() {
    return sizeof(T) == 8 ? 'd' : sizeof(T) == 4 ? 'w' : 'h';
}

}  // namespace jitgemm::emulator
