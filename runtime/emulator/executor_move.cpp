// mov, cvta.

#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"

namespace jitgemm::emulator {
namespace {

constexpr auto kCopy = [](auto a) { return a; };

void execute_move_predicate(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.set_predicate(instruction.values[0], mask, warp.predicate(instruction.values[1]));
}

/// `immediate` is 0 or not.
void execute_constant_predicate(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.set_predicate(instruction.values[0], mask, instruction.immediate != 0 ? ~Mask{0} : Mask{0});
}

/// Parts of equal width, the first lowest. `immediate` is the width of a part.
template <typename Whole>
void execute_pack(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<Whole> d(warp, instruction.values[0]);
    const auto bits = static_cast<unsigned>(instruction.immediate);
    std::array<Whole, kLanes> whole{};
    for (std::size_t part = 1; part < instruction.values.size(); ++part) {
        const Source<std::uint32_t> source(warp, instruction.values[part]);
        for_lanes(mask, [&](std::size_t lane) {
            whole[lane] = static_cast<Whole>(whole[lane] | static_cast<Whole>(source[lane]) << (bits * (part - 1)));
        });
    }
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, whole[lane]); });
}

/// The whole is the last value: parts may be written over it.
template <typename Whole>
void execute_unpack(Warp& warp, const Instruction& instruction, Mask mask) {
    const Source<Whole> source(warp, instruction.values.back());
    const auto bits = static_cast<unsigned>(instruction.immediate);
    const std::uint32_t keep = bits == 32 ? ~std::uint32_t{0} : (1U << bits) - 1;
    std::array<Whole, kLanes> whole{};
    for_lanes(mask, [&](std::size_t lane) { whole[lane] = source[lane]; });
    for (std::size_t part = 0; part + 1 < instruction.values.size(); ++part) {
        const Destination<std::uint32_t> d(warp, instruction.values[part]);
        for_lanes(mask, [&](std::size_t lane) {
            d.set(lane, static_cast<std::uint32_t>(whole[lane] >> (bits * part)) & keep);
        });
    }
}

OperandType part_type(InstructionDecoder& decoder, OperandType whole, std::size_t parts) {
    const int bits = parts == 0 ? 0 : bits_of(whole) / static_cast<int>(parts);
    if (parts != 2 && parts != 4) decoder.unsupported();
    decoder.result().immediate = bits;
    if (bits == 8) return OperandType::bits8;
    if (bits == 16) return OperandType::bits16;
    if (bits == 32) return OperandType::bits32;
    decoder.unsupported();
}

void decode_pack(InstructionDecoder& decoder, OperandType whole) {
    const std::size_t parts = decoder.operand(1).elements.size();
    const OperandType part = part_type(decoder, whole, parts);
    decoder.add(0, whole);
    decoder.add_each(1, part, parts);
    decoder.destinations(1);
    decoder.execute(InstructionKind::move,
                    bits_of(whole) == 64 ? execute_pack<std::uint64_t> : execute_pack<std::uint32_t>);
}

void decode_unpack(InstructionDecoder& decoder, OperandType whole) {
    const std::size_t parts = decoder.operand(0).elements.size();
    const OperandType part = part_type(decoder, whole, parts);
    decoder.add_each(0, part, parts);
    decoder.add(1, whole);
    decoder.destinations(parts);
    decoder.execute(InstructionKind::move,
                    bits_of(whole) == 64 ? execute_unpack<std::uint64_t> : execute_unpack<std::uint32_t>);
}

/// mov.pred of a literal: no register holds it.
void decode_constant_predicate(InstructionDecoder& decoder) {
    decoder.add(0, OperandType::predicate);
    decoder.destinations(1);
    decoder.result().immediate = decoder.constant(1);
    decoder.execute(InstructionKind::move, execute_constant_predicate);
}

void decode_mov(InstructionDecoder& decoder) {
    const std::optional<OperandType> type = operand_type_of(decoder.take_next());
    decoder.finish_modifiers();
    decoder.require_operands(2, 2);
    if (!type) decoder.unsupported();
    if (decoder.operand(1).kind == ptx::OperandKind::list) return decode_pack(decoder, *type);
    if (decoder.operand(0).kind == ptx::OperandKind::list) return decode_unpack(decoder, *type);
    if (*type == OperandType::predicate && decoder.operand(1).kind == ptx::OperandKind::integer)
        return decode_constant_predicate(decoder);
    decoder.add(0, *type);
    decoder.add(1, *type);
    decoder.destinations(1);
    decoder.result().unwritten = UnwrittenSource::copied;
    const Handler copy = bits_of(*type) == 64 ? execute_unary<kCopy, std::uint64_t, std::uint64_t>
                                              : execute_unary<kCopy, std::uint32_t, std::uint32_t>;
    decoder.execute(InstructionKind::move, *type == OperandType::predicate ? execute_move_predicate : copy);
}

// ---- generic addresses ----------------------------------------------------------------------------------------------

/// `immediate` is the window, negated for cvta.to.
void execute_cvta(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint64_t> d(warp, instruction.values[0]);
    const Source<std::uint64_t> a(warp, instruction.values[1]);
    const auto window = static_cast<std::uint64_t>(instruction.immediate);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, a[lane] + window); });
}

std::optional<ptx::StateSpace> space_named(const std::string& name) {
    if (name == "global") return ptx::StateSpace::global;
    if (name == "const") return ptx::StateSpace::constant;
    if (name == "shared" || name == "shared::cta") return ptx::StateSpace::shared;
    if (name == "shared::cluster") return ptx::StateSpace::cluster;
    if (name == "local") return ptx::StateSpace::local;
    if (name == "param" || name == "param::entry") return ptx::StateSpace::param;
    return std::nullopt;
}

void decode_cvta(InstructionDecoder& decoder) {
    const bool to = decoder.take("to");
    const std::optional<ptx::StateSpace> space = space_named(decoder.take_next());
    if (!space || decoder.take_next() != "u64") decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(2, 2);
    decoder.add(0, OperandType::bits64);
    decoder.add(1, OperandType::bits64);
    decoder.destinations(1);
    const auto window = static_cast<std::int64_t>(window_of(*space));
    decoder.result().immediate = to ? -window : window;
    decoder.execute(InstructionKind::move, execute_cvta);
}

}  // namespace

std::vector<DecoderRow> move_decoders() { return {{"mov", decode_mov}, {"cvta", decode_cvta}}; }

}  // namespace jitgemm::emulator
