#include "runtime/emulator/instruction_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace jitgemm::emulator {

using ptx::OperandKind;

int bits_of(OperandType type) {
    switch (type) {
        case OperandType::predicate: return 1;
        case OperandType::bits8: return 8;
        case OperandType::bits16: return 16;
        case OperandType::bits64:
        case OperandType::real64: return 64;
        default: return 32;
    }
}

OperandType operand_type(char letter) {
    switch (letter) {
        case 'p': return OperandType::predicate;
        case 'h': return OperandType::bits16;
        case 'd': return OperandType::bits64;
        case 'f': return OperandType::real32;
        case 'F': return OperandType::real64;
        default: return OperandType::bits32;
    }
}

std::optional<OperandType> operand_type_of(std::string_view ptx_type) {
    if (ptx_type == "f32") return OperandType::real32;
    if (ptx_type == "f64") return OperandType::real64;
    switch (ptx::type_bits(ptx_type)) {
        case 1: return OperandType::predicate;
        case 8: return OperandType::bits8;
        case 16: return OperandType::bits16;
        case 32: return OperandType::bits32;
        case 64: return OperandType::bits64;
        default: return std::nullopt;
    }
}

// ---- modifiers ------------------------------------------------------------------------------------------------------

InstructionDecoder::InstructionDecoder(FunctionScope& scope, const ptx::Instruction& source, Instruction& result)
    : scope_(scope), source_(source), result_(result), modifiers_(source.modifiers) {}

bool InstructionDecoder::take(std::string_view modifier) { return !take_any({modifier}).empty(); }

std::string InstructionDecoder::take_any(std::initializer_list<std::string_view> modifiers) {
    const auto found = std::find_if(modifiers_.begin(), modifiers_.end(), [&](const std::string& own) {
        return std::find(modifiers.begin(), modifiers.end(), own) != modifiers.end();
    });
    if (found == modifiers_.end()) return {};
    std::string taken = *found;
    modifiers_.erase(found);
    return taken;
}

std::string InstructionDecoder::take_next() {
    if (modifiers_.empty()) unsupported("a modifier is missing");
    std::string taken = modifiers_.front();
    modifiers_.erase(modifiers_.begin());
    return taken;
}

void InstructionDecoder::finish_modifiers() {
    if (!modifiers_.empty()) unsupported("modifier ." + modifiers_.front());
}

void InstructionDecoder::require_cluster_target() const {
    constexpr int kFirstCapability = 90;
    if (ptx::compute_capability(scope_.module) < kFirstCapability) unsupported("clusters need .target sm_90 or later");
}

void InstructionDecoder::unsupported(const std::string& why) const {
    std::string text = fmt::format("not supported by the emulator: {}", source_.text);
    if (!why.empty()) text += fmt::format(" ({})", why);
    if (source_.location.line > 0) text += fmt::format("; source line {}", source_.location.line);
    throw PtxError(source_.line, text);
}

void InstructionDecoder::execute(InstructionKind kind, Handler handler) {
    result_.kind = kind;
    result_.execute = handler;
}

// ---- operands -------------------------------------------------------------------------------------------------------

const ptx::Operand& InstructionDecoder::operand(std::size_t index) {
    if (index >= source_.operands.size()) unsupported("an operand is missing");
    return source_.operands[index];
}

void InstructionDecoder::require_operands(std::size_t least, std::size_t most) {
    if (operands() < least || operands() > most) unsupported(fmt::format("{} operands", operands()));
}

void InstructionDecoder::add(std::size_t index, OperandType type) { add_element(operand(index), type); }

void InstructionDecoder::add_at_least(std::size_t index, OperandType type) { add_element(operand(index), type, true); }

void InstructionDecoder::add_element(const ptx::Operand& element, OperandType type, bool wider) {
    result_.values.push_back(value(element, type, wider));
}

void InstructionDecoder::add_each(std::size_t index, OperandType type, std::size_t count, bool wider) {
    const ptx::Operand& list = operand(index);
    if (list.kind != OperandKind::list && count == 1) return add_element(list, type, wider);
    if (list.kind != OperandKind::list || list.elements.size() != count) {
        unsupported(fmt::format("operand {} must be a list of {}", index + 1, count));
    }
    for (const ptx::Operand& element : list.elements) add_element(element, type, wider);
}

void InstructionDecoder::add_predicate(int register_index) {
    ptx::Operand operand;
    operand.kind = OperandKind::reg;
    operand.index = register_index;
    result_.values.push_back(register_value(operand, OperandType::predicate, false));
}

void InstructionDecoder::add_address(std::size_t index) {
    if (operand(index).elements.size() != 1) unsupported("an address was expected");
    result_.immediate = add_base(index);
}

std::int64_t InstructionDecoder::add_base(std::size_t index) {
    const ptx::Operand& address = operand(index);
    if (address.kind != OperandKind::address) unsupported("an address was expected");
    const ptx::Operand& base = address.elements.front();
    const bool word =
        base.kind == OperandKind::reg && scope_.source.registers[static_cast<std::size_t>(base.index)].bits == 32;
    add_element(base, word ? OperandType::bits32 : OperandType::bits64);
    return address.value;
}

std::int64_t InstructionDecoder::constant(std::size_t index) {
    const ptx::Operand& literal = operand(index);
    if (literal.kind != OperandKind::integer) unsupported(fmt::format("operand {} must be a constant", index + 1));
    return literal.value;
}

Value InstructionDecoder::value(const ptx::Operand& operand, OperandType type, bool wider) {
    switch (operand.kind) {
        case OperandKind::reg: return register_value(operand, type, wider);
        case OperandKind::sink: return {};
        case OperandKind::special: return special_value(operand, type);
        case OperandKind::integer: return constant_value(static_cast<std::uint64_t>(operand.value), type);
        case OperandKind::real32:
        case OperandKind::real64: return real_value(operand, type);
        case OperandKind::symbol:
        case OperandKind::variable:
        case OperandKind::parameter: return symbol_value(operand, type);
        default: unsupported("an operand of this kind");
    }
}

Value InstructionDecoder::register_value(const ptx::Operand& operand, OperandType type, bool wider) {
    const ptx::Register& own = scope_.source.registers[static_cast<std::size_t>(operand.index)];
    const int bits = bits_of(type);
    const bool predicate = type == OperandType::predicate;
    if (own.bits != bits && (!wider || own.bits < bits || predicate)) {
        unsupported(fmt::format("register {} has {} bits where {} are needed", own.name, own.bits, bits));
    }
    Value value = scope_.function.registers[static_cast<std::size_t>(operand.index)];
    value.negated = operand.negated;
    return value;
}

Value InstructionDecoder::constant_value(std::uint64_t bits, OperandType type) {
    switch (bits_of(type)) {
        case 1: unsupported("a constant predicate");
        case 8: return scope_.constants.word(static_cast<std::uint8_t>(bits));
        case 16: return scope_.constants.word(static_cast<std::uint16_t>(bits));
        case 32: return scope_.constants.word(static_cast<std::uint32_t>(bits));
        default: return scope_.constants.doubleword(bits);
    }
}

Value InstructionDecoder::real_value(const ptx::Operand& operand, OperandType type) {
    const auto bits = static_cast<std::uint64_t>(operand.value);
    const bool is_double = operand.kind == OperandKind::real64;
    const int width = bits_of(type);
    if (!is_double && width == 32) return constant_value(bits, type);
    if (is_double && width == 64) return constant_value(bits, type);
    if (is_double && type == OperandType::real32) {
        return constant_value(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits))), type);
    }
    unsupported("a real constant of another type");
}

Value InstructionDecoder::variable_value(const ptx::Variable& variable, std::int64_t offset, std::int64_t addend,
                                         OperandType type) {
    if (variable.space != ptx::StateSpace::local) {
        return constant_value(static_cast<std::uint64_t>(offset + addend), type);
    }
    if (bits_of(type) != 64) unsupported("a 32-bit address of local memory");
    const auto key = std::make_pair(Special::local_address, offset + addend);
    const auto [row, fresh] = scope_.special_rows.try_emplace(key, scope_.function.doublewords);
    if (fresh) {
        scope_.function.specials.push_back({Special::local_address, row->second, offset + addend});
        ++scope_.function.doublewords;
    }
    return {.bank = Bank::doublewords, .row = row->second};
}

Value InstructionDecoder::symbol_value(const ptx::Operand& operand, OperandType type) {
    const auto index = static_cast<std::size_t>(operand.index);
    if (operand.kind == OperandKind::parameter) {
        return constant_value(static_cast<std::uint64_t>(scope_.function.parameters[index].offset + operand.value),
                              type);
    }
    if (operand.kind == OperandKind::variable) {
        return variable_value(scope_.source.variables[index], scope_.variable_offsets[index], operand.value, type);
    }
    for (std::size_t i = 0; i < scope_.module.variables.size(); ++i) {
        const ptx::Variable& variable = scope_.module.variables[i];
        if (variable.name != operand.name) continue;
        if (variable.space == ptx::StateSpace::shared) {
            return variable_value(variable, scope_.shared_offsets[i], operand.value, type);
        }
        if (bits_of(type) != 64) unsupported("a 32-bit address of global memory");
        if (variable.external) unsupported(fmt::format("variable {} is defined in another module", variable.name));
        return scope_.constants.address(i, operand.value);
    }
    unsupported(fmt::format("{} is not declared, or no variable", operand.name));
}

namespace {

struct SpecialRowName {
    std::string_view name;
    Special special;
};

constexpr std::array<SpecialRowName, 38> kSpecials{{
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"WARP_SZ", Special::warp_size},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%dynamic_smem_size", Special::dynamic_shared_bytes},
    {"%total_smem_size", Special::total_shared_bytes},
    {"%cluster_ctaid.x", Special::cluster_ctaid_x},
    {"%cluster_ctaid.y", Special::cluster_ctaid_y},
    {"%cluster_ctaid.z", Special::cluster_ctaid_z},
    {"%cluster_nctaid.x", Special::cluster_nctaid_x},
    {"%cluster_nctaid.y", Special::cluster_nctaid_y},
    {"%cluster_nctaid.z", Special::cluster_nctaid_z},
    {"%clusterid.x", Special::clusterid_x},
    {"%clusterid.y", Special::clusterid_y},
    {"%clusterid.z", Special::clusterid_z},
    {"%nclusterid.x", Special::nclusterid_x},
    {"%nclusterid.y", Special::nclusterid_y},
    {"%nclusterid.z", Special::nclusterid_z},
    {"%cluster_ctarank", Special::cluster_ctarank},
    {"%cluster_nctarank", Special::cluster_nctarank},
    {"%is_explicit_cluster", Special::is_explicit_cluster},
}};

}  // namespace

Value InstructionDecoder::special_value(const ptx::Operand& operand, OperandType type) {
    const auto* const known = std::find_if(kSpecials.begin(), kSpecials.end(),
                                           [&](const SpecialRowName& row) { return row.name == operand.name; });
    if (known == kSpecials.end()) unsupported(fmt::format("special register {}", operand.name));
    if (operand.name.find("cluster") != std::string::npos) require_cluster_target();
    const Bank bank = bank_of(known->special);
    const bool predicate = bank == Bank::predicates;
    const int bits = predicate ? 1 : 32;
    if (bits_of(type) != bits) unsupported(fmt::format("{} has {} bits", operand.name, bits));
    std::uint32_t& rows = predicate ? scope_.function.predicates : scope_.function.words;
    const auto [row, fresh] = scope_.special_rows.try_emplace({known->special, 0}, rows);
    if (fresh) {
        scope_.function.specials.push_back({known->special, row->second});
        ++rows;
    }
    return {.bank = bank, .row = row->second};
}

}  // namespace jitgemm::emulator
