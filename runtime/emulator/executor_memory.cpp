// ld and st of every space, width and vector; prefetch, which computes nothing; createpolicy.

#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/memory_access.hpp"
#include "runtime/emulator/memory_modifiers.hpp"
#include "runtime/emulator/strong_access.hpp"

#include <atomic>
#include <cstring>

namespace jitgemm::emulator {

void decode_prefetch_tensor_map(InstructionDecoder& decoder);  // in executor_bulk_copy.cpp

namespace {

struct MemoryDetail {
    ptx::StateSpace space = ptx::StateSpace::generic;
    bool strong = false;
    MemoryOrder order;        ///< if it is strong
    std::uint32_t bytes = 4;  ///< of an element
    std::uint32_t count = 1;
};

WarpAccess access_of(const Warp& warp, const Instruction& instruction, std::size_t address, Access access) {
    const auto& detail = instruction.detail<MemoryDetail>();
    return {detail.space, access, detail.bytes * detail.count, lane_addresses(warp, instruction, address)};
}

/// Another block may write what a strong access reads at the same time, so it is one on the host too.
template <typename Element>
Element load(const std::byte* from, bool strong) {
    Element element;
    if (strong) {
        element = std::atomic_ref<Element>(*reinterpret_cast<Element*>(const_cast<std::byte*>(from))).load();
    } else {
        std::memcpy(&element, from, sizeof(Element));
    }
    return element;
}

template <typename Element>
void store(std::byte* to, Element element, bool strong) {
    if (strong) {
        std::atomic_ref<Element>(*reinterpret_cast<Element*>(to)).store(element);
    } else {
        std::memcpy(to, &element, sizeof(Element));
    }
}

/// Element is signed where it is sign-extended to a wider register.
template <typename Element, typename Register>
void load_row(Warp& warp, const Value& value, const LanePointers& pointers, std::size_t offset, Mask mask,
              bool strong) {
    const Destination<Register> d(warp, value);
    for_lanes(mask, [&](std::size_t lane) {
        const std::byte* from = pointers[lane];
        d.set(lane, from == nullptr ? Register{0} : static_cast<Register>(load<Element>(from + offset, strong)));
    });
}

/// A narrow signed element in a 16-bit register keeps 16 bits.
constexpr std::uint32_t kHalfRegister = 0xFFFF;

template <typename Element, typename Register>
void execute_load(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto& detail = instruction.detail<MemoryDetail>();
    WarpAccess access = access_of(warp, instruction, detail.count, detail.strong ? Access::strong_read : Access::read);
    StrongAccess strong(warp, detail.order, detail.space, detail.strong);
    LanePointers pointers = resolve(warp, access, mask);
    strong.load(access, mask, pointers);
    for (std::size_t i = 0; i < detail.count; ++i) {
        load_row<Element, Register>(warp, instruction.values[i], pointers, i * sizeof(Element), mask, detail.strong);
    }
}

/// ld.s8 into a 16-bit register.
void execute_load_s8_to_half(Warp& warp, const Instruction& instruction, Mask mask) {
    execute_load<std::int8_t, std::uint32_t>(warp, instruction, mask);
    for (std::size_t i = 0; i < instruction.detail<MemoryDetail>().count; ++i) {
        if (!instruction.values[i].is_register()) continue;
        std::uint32_t* row = warp.target_words(instruction.values[i]);
        for_lanes(mask, [&](std::size_t lane) { row[lane] &= kHalfRegister; });
    }
}

constexpr std::size_t kWidestStore = 32;

/// Lane by lane, all elements of a lane together.
template <typename Element, typename Register>
void store_once(Warp& warp, const Instruction& instruction, const WarpAccess& access, const LanePointers& pointers,
                Mask mask) {
    std::array<std::array<std::byte, kWidestStore>, kLanes> values{};
    for (std::size_t i = 0; i < instruction.detail<MemoryDetail>().count; ++i) {
        const Source<Register> source(warp, instruction.values[i]);
        for_lanes(mask, [&](std::size_t lane) {
            const auto element = static_cast<Element>(source[lane]);
            std::memcpy(values[lane].data() + i * sizeof(Element), &element, sizeof(Element));
        });
    }
    for_each_bit(mask, [&](std::size_t lane) {
        if (pointers[lane] != nullptr) put(warp, access, lane, pointers[lane], values[lane].data());
    });
}

template <typename Element, typename Register>
void execute_store(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto& detail = instruction.detail<MemoryDetail>();
    WarpAccess access =
        access_of(warp, instruction, detail.count, detail.strong ? Access::strong_write : Access::write);
    StrongAccess strong(warp, detail.order, detail.space, detail.strong);
    const LanePointers pointers = resolve(warp, access, mask);
    strong.store(access, mask, pointers);
    if (access.once != 0) return store_once<Element, Register>(warp, instruction, access, pointers, mask);
    for (std::size_t i = 0; i < detail.count; ++i) {
        const Source<Register> source(warp, instruction.values[i]);
        for_lanes(mask, [&](std::size_t lane) {
            if (pointers[lane] == nullptr) return;
            store(pointers[lane] + i * sizeof(Element), static_cast<Element>(source[lane]), detail.strong);
        });
    }
}

// ---- decoding -------------------------------------------------------------------------------------------------------

struct ElementRow {
    std::string_view name;
    OperandType operand;
    Handler load_word;  ///< into registers of up to 32 bits
    Handler load_doubleword;
    Handler store_word;
    Handler store_doubleword;
};

template <typename Element>
constexpr ElementRow element_row(std::string_view name, OperandType operand) {
    using Unsigned = std::make_unsigned_t<Element>;
    return {name,
            operand,
            execute_load<Element, std::uint32_t>,
            execute_load<Element, std::uint64_t>,
            execute_store<Unsigned, std::uint32_t>,
            execute_store<Unsigned, std::uint64_t>};
}

constexpr std::array<ElementRow, 14> kElements{{
    element_row<std::uint8_t>("b8", OperandType::bits8),
    element_row<std::uint8_t>("u8", OperandType::bits8),
    element_row<std::int8_t>("s8", OperandType::bits8),
    element_row<std::uint16_t>("b16", OperandType::bits16),
    element_row<std::uint16_t>("u16", OperandType::bits16),
    element_row<std::int16_t>("s16", OperandType::bits16),
    element_row<std::uint32_t>("b32", OperandType::bits32),
    element_row<std::uint32_t>("u32", OperandType::bits32),
    element_row<std::int32_t>("s32", OperandType::bits32),
    element_row<std::uint32_t>("f32", OperandType::real32),
    element_row<std::uint64_t>("b64", OperandType::bits64),
    element_row<std::uint64_t>("u64", OperandType::bits64),
    element_row<std::int64_t>("s64", OperandType::bits64),
    element_row<std::uint64_t>("f64", OperandType::real64),
}};

const ElementRow& take_element(InstructionDecoder& decoder) {
    const std::string name = decoder.take_next();
    for (const ElementRow& row : kElements) {
        if (row.name == name) return row;
    }
    decoder.unsupported("elements of type ." + name);
}

InstructionKind kind_of(ptx::StateSpace space, bool store) {
    switch (space) {
        case ptx::StateSpace::shared:
        case ptx::StateSpace::cluster: return store ? InstructionKind::shared_store : InstructionKind::shared_load;
        case ptx::StateSpace::local: return InstructionKind::local;
        case ptx::StateSpace::param: return InstructionKind::parameter;
        default: return store ? InstructionKind::global_store : InstructionKind::global_load;
    }
}

bool is_doubleword(const Value& value) {
    return value.bank == Bank::doublewords || value.bank == Bank::constant_doublewords;
}

/// Registers of a vector are all of one kind: the first that is not "_" tells.
bool has_doublewords(const Instruction& instruction, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (is_doubleword(instruction.values[i])) return true;
    }
    return false;
}

void check_uniform(InstructionDecoder& decoder, std::size_t count, bool doublewords) {
    for (std::size_t i = 0; i < count; ++i) {
        const Value& value = decoder.result().values[i];
        if (value.bank != Bank::none && is_doubleword(value) != doublewords)
            decoder.unsupported("registers of two widths");
    }
}

/// Whether a register of the list has 16 bits.
bool has_half_register(InstructionDecoder& decoder, const ptx::Operand& operand) {
    const auto is_half = [&](const ptx::Operand& own) {
        return own.kind == ptx::OperandKind::reg &&
               decoder.scope().source.registers[static_cast<std::size_t>(own.index)].bits == 16;
    };
    for (const ptx::Operand& element : operand.elements) {
        if (is_half(element)) return true;
    }
    return is_half(operand);
}

struct Decoded {
    const ElementRow* element = nullptr;
    MemoryDetail detail;
};

/// All but the destinations: the data operand first, then the address.
Decoded decode_access(InstructionDecoder& decoder, std::size_t data, std::size_t address) {
    const MemoryModifiers modifiers = take_memory_modifiers(decoder);
    Decoded decoded;
    decoded.detail.count = static_cast<std::uint32_t>(take_vector(decoder));
    decoded.element = &take_element(decoder);
    decoder.finish_modifiers();
    decoded.detail.space = modifiers.space;
    decoded.detail.strong = modifiers.strong;
    decoded.detail.order = modifiers.order;
    decoded.detail.bytes = static_cast<std::uint32_t>(bits_of(decoded.element->operand)) / 8;
    const std::uint32_t all = decoded.detail.bytes * decoded.detail.count;
    if (all > 32 || (modifiers.strong && decoded.detail.count > 1)) decoder.unsupported("vectors of this size");
    decoder.require_operands(modifiers.cache_hint ? 3 : 2, modifiers.cache_hint ? 3 : 2);
    decoder.add_each(data, decoded.element->operand, decoded.detail.count, true);
    decoder.add_address(address);
    return decoded;
}

void decode_ld(InstructionDecoder& decoder) {
    const Decoded decoded = decode_access(decoder, 0, 1);
    const bool wide = has_doublewords(decoder.result(), decoded.detail.count);
    check_uniform(decoder, decoded.detail.count, wide);
    decoder.destinations(decoded.detail.count);
    decoder.detail(decoded.detail);
    Handler handler = wide ? decoded.element->load_doubleword : decoded.element->load_word;
    if (decoded.element->name == "s8" && has_half_register(decoder, decoder.operand(0)))
        handler = execute_load_s8_to_half;
    if (decoded.element->name == "s16" && has_half_register(decoder, decoder.operand(0))) {
        handler = execute_load<std::uint16_t, std::uint32_t>;
    }
    decoder.execute(kind_of(decoded.detail.space, false), handler);
}

void decode_st(InstructionDecoder& decoder) {
    const Decoded decoded = decode_access(decoder, 1, 0);
    if (decoded.detail.space == ptx::StateSpace::constant) decoder.unsupported();
    const bool wide = has_doublewords(decoder.result(), decoded.detail.count);
    check_uniform(decoder, decoded.detail.count, wide);
    decoder.detail(decoded.detail);
    decoder.execute(kind_of(decoded.detail.space, true),
                    wide ? decoded.element->store_doubleword : decoded.element->store_word);
}

void execute_nothing(Warp& /*warp*/, const Instruction& /*instruction*/, Mask /*mask*/) {}

/// A hint to caches the emulator does not have.
void decode_hint(InstructionDecoder& decoder) {
    if (decoder.take("tensormap")) return decode_prefetch_tensor_map(decoder);
    decoder.add_address(0);
    decoder.execute(InstructionKind::control, execute_nothing);
}

void execute_createpolicy(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint64_t> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, 0); });
}

/// A policy is opaque; only .L2::cache_hint operands take it, and they are not looked at.
void decode_createpolicy(InstructionDecoder& decoder) {
    if (!decoder.source().has("fractional")) decoder.unsupported();
    decoder.add(0, OperandType::bits64);
    decoder.destinations(1);
    decoder.execute(InstructionKind::move, execute_createpolicy);
}

}  // namespace

std::vector<DecoderRow> memory_decoders() {
    return {{"ld", decode_ld}, {"st", decode_st}, {"prefetch", decode_hint}, {"createpolicy", decode_createpolicy}};
}

}  // namespace jitgemm::emulator
