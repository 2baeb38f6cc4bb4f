// atom and red.

#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/memory_access.hpp"
#include "runtime/emulator/memory_modifiers.hpp"
#include "runtime/emulator/strong_access.hpp"

#include <atomic>

namespace jitgemm::emulator {
namespace {

enum class AtomicOperation : std::uint8_t { add, min, max, inc, dec, exch, cas, bit_and, bit_or, bit_xor };
enum class Arithmetic : std::uint8_t { bits, unsigned_integer, signed_integer, real, packed };

struct AtomicDetail {
    ptx::StateSpace space = ptx::StateSpace::generic;
    AtomicOperation operation{};
    Arithmetic arithmetic{};
    FloatType real{};
    MemoryOrder order;
    std::uint32_t bits = 32;
};

std::int64_t sign_extend(std::uint64_t value, std::uint32_t bits) {
    const unsigned shift = 64 - bits;
    return static_cast<std::int64_t>(value << shift) >> shift;
}

/// atom.add.f32 flushes subnormals in global memory, not in shared memory (PTX ISA, "atom").
std::uint64_t add_real(const AtomicDetail& detail, std::uint64_t old, std::uint64_t b, bool global) {
    if (detail.arithmetic == Arithmetic::packed) {
        return add_x2(detail.real, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b));
    }
    return add(detail.real, old, b, {.flush_subnormals = global && detail.real == FloatType::f32});
}

std::uint64_t extreme(const AtomicDetail& detail, std::uint64_t old, std::uint64_t b, bool largest) {
    const bool less = detail.arithmetic == Arithmetic::signed_integer
                          ? sign_extend(old, detail.bits) < sign_extend(b, detail.bits)
                          : old < b;
    return less == largest ? b : old;
}

std::uint64_t apply(const AtomicDetail& detail, std::uint64_t old, std::uint64_t b, std::uint64_t c, bool global) {
    const bool real = detail.arithmetic == Arithmetic::real || detail.arithmetic == Arithmetic::packed;
    switch (detail.operation) {
        case AtomicOperation::add: return real ? add_real(detail, old, b, global) : old + b;
        case AtomicOperation::min: return extreme(detail, old, b, false);
        case AtomicOperation::max: return extreme(detail, old, b, true);
        case AtomicOperation::inc: return old >= b ? 0 : old + 1;
        case AtomicOperation::dec: return old == 0 || old > b ? b : old - 1;
        case AtomicOperation::exch: return b;
        case AtomicOperation::cas: return old == b ? c : old;
        case AtomicOperation::bit_and: return old & b;
        case AtomicOperation::bit_or: return old | b;
        case AtomicOperation::bit_xor: return old ^ b;
    }
    return old;
}

/// Blocks run on several host threads, so it is atomic on the host as well.
template <typename T>
T update(std::byte* at, const AtomicDetail& detail, std::uint64_t b, std::uint64_t c, bool global) {
    const std::atomic_ref<T> memory(*reinterpret_cast<T*>(at));
    T old = memory.load();
    while (!memory.compare_exchange_weak(old, static_cast<T>(apply(detail, old, b, c, global)))) {
    }
    return old;
}

/// values: d (or a sink), address, b and c of cas. T is the width in memory.
template <typename T>
void execute_atomic(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto& detail = instruction.detail<AtomicDetail>();
    WarpAccess access{detail.space, Access::atomic, sizeof(T), lane_addresses(warp, instruction, 1)};
    StrongAccess strong(warp, detail.order, detail.space);
    const LanePointers pointers = resolve(warp, access, mask);
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> b(warp, instruction.values[2]);
    const Source<T> c(warp, instruction.values[detail.operation == AtomicOperation::cas ? 3 : 2]);
    for_each_bit(mask, [&](std::size_t lane) {  // lanes one after the other: they may meet
        if (pointers[lane] == nullptr) return;
        const bool global =
            detail.space == ptx::StateSpace::global ||
            (detail.space == ptx::StateSpace::generic && space_of(access.addresses[lane]) == ptx::StateSpace::global);
        const T old = update<T>(pointers[lane], detail, b[lane], c[lane], global);
        strong.update(access, lane, old, detail.operation != AtomicOperation::cas || old == b[lane]);
        d.set(lane, old);
    });
}

// ---- decoding -------------------------------------------------------------------------------------------------------

struct OperationRow {
    std::string_view name;
    AtomicOperation operation;
};

constexpr std::array<OperationRow, 10> kOperations{{{"add", AtomicOperation::add},
                                                    {"min", AtomicOperation::min},
                                                    {"max", AtomicOperation::max},
                                                    {"inc", AtomicOperation::inc},
                                                    {"dec", AtomicOperation::dec},
                                                    {"exch", AtomicOperation::exch},
                                                    {"cas", AtomicOperation::cas},
                                                    {"and", AtomicOperation::bit_and},
                                                    {"or", AtomicOperation::bit_or},
                                                    {"xor", AtomicOperation::bit_xor}}};

struct TypeRow {
    std::string_view name;
    OperandType operand;
    Arithmetic arithmetic;
    FloatType real;
    bool noftz;
};

constexpr std::array<TypeRow, 13> kTypes{{
    {"b16", OperandType::bits16, Arithmetic::bits, {}, false},
    {"b32", OperandType::bits32, Arithmetic::bits, {}, false},
    {"b64", OperandType::bits64, Arithmetic::bits, {}, false},
    {"u32", OperandType::bits32, Arithmetic::unsigned_integer, {}, false},
    {"u64", OperandType::bits64, Arithmetic::unsigned_integer, {}, false},
    {"s32", OperandType::bits32, Arithmetic::signed_integer, {}, false},
    {"s64", OperandType::bits64, Arithmetic::signed_integer, {}, false},
    {"f32", OperandType::real32, Arithmetic::real, FloatType::f32, false},
    {"f64", OperandType::real64, Arithmetic::real, FloatType::f64, false},
    {"f16", OperandType::bits16, Arithmetic::real, FloatType::f16, true},
    {"bf16", OperandType::bits16, Arithmetic::real, FloatType::bf16, true},
    {"f16x2", OperandType::bits32, Arithmetic::packed, FloatType::f16, true},
    {"bf16x2", OperandType::bits32, Arithmetic::packed, FloatType::bf16, true},
}};

AtomicOperation take_operation(InstructionDecoder& decoder) {
    const std::string name = decoder.take_next();
    for (const OperationRow& row : kOperations) {
        if (row.name == name) return row.operation;
    }
    decoder.unsupported();
}

const TypeRow& take_type(InstructionDecoder& decoder) {
    const bool noftz = decoder.take("noftz");
    const std::string name = decoder.take_next();
    for (const TypeRow& row : kTypes) {
        if (row.name == name && row.noftz == noftz) return row;
    }
    decoder.unsupported();
}

/// Which types an operation has (PTX ISA, "atom").
bool is_legal(AtomicOperation operation, Arithmetic arithmetic) {
    switch (operation) {
        case AtomicOperation::add: return arithmetic != Arithmetic::bits;
        case AtomicOperation::inc:
        case AtomicOperation::dec: return arithmetic == Arithmetic::unsigned_integer;
        case AtomicOperation::min:
        case AtomicOperation::max:
            return arithmetic == Arithmetic::unsigned_integer || arithmetic == Arithmetic::signed_integer;
        default: return arithmetic == Arithmetic::bits;
    }
}

void decode(InstructionDecoder& decoder, bool returns) {
    const MemoryModifiers modifiers = take_memory_modifiers(decoder);
    AtomicDetail detail;
    detail.space = modifiers.space;
    detail.order = modifiers.order;
    detail.operation = take_operation(decoder);
    const TypeRow& type = take_type(decoder);
    decoder.finish_modifiers();
    detail.arithmetic = type.arithmetic;
    detail.real = type.real;
    detail.bits = static_cast<std::uint32_t>(bits_of(type.operand));
    if (!is_legal(detail.operation, detail.arithmetic)) decoder.unsupported();
    const bool cas = detail.operation == AtomicOperation::cas;
    const std::size_t first = returns ? 1 : 0;
    const std::size_t count = first + 2 + (cas ? 1 : 0) + (modifiers.cache_hint ? 1 : 0);
    decoder.require_operands(count, count);
    returns ? decoder.add(0, type.operand) : decoder.add_sink();
    decoder.add_address(first);
    decoder.add(first + 1, type.operand);
    if (cas) decoder.add(first + 2, type.operand);
    decoder.destinations(1);
    decoder.detail(detail);
    decoder.execute(InstructionKind::atomic, detail.bits == 64   ? execute_atomic<std::uint64_t>
                                             : detail.bits == 16 ? execute_atomic<std::uint16_t>
                                                                 : execute_atomic<std::uint32_t>);
}

void decode_atom(InstructionDecoder& decoder) { decode(decoder, true); }
void decode_red(InstructionDecoder& decoder) { decode(decoder, false); }

}  // namespace

std::vector<DecoderRow> atomic_decoders() { return {{"atom", decode_atom}, {"red", decode_red}}; }

}  // namespace jitgemm::emulator
