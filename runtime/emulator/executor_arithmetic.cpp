// The mnemonics that integers and floats share, told apart by their type; and those of integers alone.

#include "runtime/emulator/arithmetic_decoders.hpp"

namespace jitgemm::emulator {
namespace {

void decode_arithmetic(InstructionDecoder& decoder) {
    const ptx::Instruction& source = decoder.source();
    if (source.modifiers.empty()) decoder.unsupported();
    if (is_float_type(source.modifiers.back())) return decode_float_arithmetic(decoder);
    decode_integer(decoder);
}

}  // namespace

std::vector<DecoderRow> integer_decoders() {
    return {{"add", decode_arithmetic}, {"sub", decode_arithmetic}, {"mul", decode_arithmetic},
            {"mad", decode_arithmetic}, {"div", decode_arithmetic}, {"min", decode_arithmetic},
            {"max", decode_arithmetic}, {"abs", decode_arithmetic}, {"neg", decode_arithmetic},
            {"rem", decode_integer},    {"dp4a", decode_integer}};
}

}  // namespace jitgemm::emulator
