// bra, call, ret, exit, trap.

#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/warp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::emulator {
namespace {

void execute_branch(Warp& warp, const Instruction& instruction, Mask mask) { warp.branch(instruction, mask); }
void execute_call(Warp& warp, const Instruction& instruction, Mask mask) { warp.call(instruction, mask); }
void execute_ret(Warp& warp, const Instruction& /*unused*/, Mask mask) { warp.return_from_function(mask); }
void execute_exit(Warp& warp, const Instruction& /*unused*/, Mask mask) { warp.exit(mask); }

void execute_trap(Warp& warp, const Instruction& /*unused*/, Mask mask) {
    warp.fail(FaultKind::trap, "the program stops itself with trap", std::countr_zero(mask));
}

void decode_bra(InstructionDecoder& decoder) {
    decoder.take("uni");
    decoder.finish_modifiers();
    decoder.require_operands(1, 1);
    const ptx::Operand& label = decoder.operand(0);
    if (label.kind != ptx::OperandKind::label) decoder.unsupported(fmt::format("there is no label {}", label.name));
    decoder.result().target = decoder.scope().function.first + static_cast<std::uint32_t>(label.index);
    decoder.execute(InstructionKind::control, execute_branch);
}

template <Handler kHandler>
void decode_bare(InstructionDecoder& decoder) {
    decoder.take("uni");
    decoder.finish_modifiers();
    decoder.require_operands(0, 0);
    decoder.execute(InstructionKind::control, kHandler);
}

// ---- call -----------------------------------------------------------------------------------------------------------

std::size_t find_function(InstructionDecoder& decoder, const std::string& name) {
    const std::vector<ptx::Function>& functions = decoder.scope().module.functions;
    const auto found = std::find_if(functions.begin(), functions.end(),
                                    [&](const ptx::Function& function) { return function.name == name; });
    if (found == functions.end() || !found->defined) {
        decoder.unsupported(fmt::format("function {} has no body here", name));
    }
    return static_cast<std::size_t>(found - functions.begin());
}

/// The .param variable an argument or result of a call is.
ParameterRange argument_range(InstructionDecoder& decoder, const ptx::Operand& operand) {
    if (operand.kind == ptx::OperandKind::parameter) {
        return decoder.scope().function.parameters[static_cast<std::size_t>(operand.index)];
    }
    if (operand.kind != ptx::OperandKind::variable) decoder.unsupported("an argument that is no .param variable");
    const auto index = static_cast<std::size_t>(operand.index);
    return {decoder.scope().variable_offsets[index], decoder.scope().source.variables[index].bytes};
}

std::vector<ParameterMove> moves(InstructionDecoder& decoder, const std::vector<ptx::Operand>& own,
                                 const ParameterRange* formal, std::size_t count, bool to_callee) {
    if (own.size() != count) decoder.unsupported(fmt::format("{} arguments or results for {}", own.size(), count));
    std::vector<ParameterMove> all;
    for (std::size_t i = 0; i < count; ++i) {
        const ParameterRange actual = argument_range(decoder, own[i]);
        if (actual.bytes != formal[i].bytes) decoder.unsupported("an argument or result of another size");
        all.push_back(to_callee ? ParameterMove{actual.offset, formal[i].offset, actual.bytes}
                                : ParameterMove{formal[i].offset, actual.offset, actual.bytes});
    }
    return all;
}

/// call (results), function, (arguments); without results or without both lists.
void decode_call(InstructionDecoder& decoder) {
    decoder.take("uni");
    decoder.finish_modifiers();
    decoder.require_operands(1, 3);
    const bool has_results = decoder.operand(0).kind == ptx::OperandKind::list;
    const std::size_t name = has_results ? 1 : 0;
    if (decoder.operand(name).kind != ptx::OperandKind::symbol) decoder.unsupported("a call through a register");
    CallSite site;
    site.function = find_function(decoder, decoder.operand(name).name);
    const ptx::Function& callee = decoder.scope().module.functions[site.function];
    const std::vector<ParameterRange>& formal = decoder.scope().functions[site.function].parameters;
    const std::size_t arguments = callee.parameters.size() - callee.result_count;
    static const std::vector<ptx::Operand> kNone;
    const auto& own_results = has_results ? decoder.operand(0).elements : kNone;
    const auto& own_arguments = decoder.operands() > name + 1 ? decoder.operand(name + 1).elements : kNone;
    site.arguments = moves(decoder, own_arguments, formal.data(), arguments, true);
    site.results = moves(decoder, own_results, formal.data() + arguments, callee.result_count, false);
    decoder.detail(site);
    decoder.execute(InstructionKind::control, execute_call);
}

}  // namespace

std::vector<DecoderRow> control_decoders() {
    return {{"bra", decode_bra},
            {"call", decode_call},
            {"ret", decode_bare<execute_ret>},
            {"exit", decode_bare<execute_exit>},
            {"trap", decode_bare<execute_trap>}};
}

}  // namespace jitgemm::emulator
