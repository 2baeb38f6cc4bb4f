#include "runtime/emulator/plain_instructions.hpp"

namespace jitgemm::emulator {

PlainInstructions::PlainInstructions(const std::vector<PlainInstruction>& rows) {
    for (const PlainInstruction& row : rows) rows_.emplace(row.opcode, row);
}

void PlainInstructions::decode(InstructionDecoder& decoder) const {
    const auto row = rows_.find(decoder.source().opcode());
    if (row == rows_.end()) decoder.unsupported();
    const std::string& operands = row->second.operands;
    decoder.require_operands(operands.size(), operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) decoder.add(i, operand_type(operands[i]));
    decoder.destinations(1);
    decoder.execute(row->second.kind, row->second.handler);
}

}  // namespace jitgemm::emulator
