// wmma.load, wmma.store and wmma.mma of f16 and bf16. How a fragment lies in a warp is left open by the ISA: it is
// wmma_coordinate's.

#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/memory_access.hpp"
#include "runtime/emulator/tensor_operands.hpp"

#include <array>
#include <cstring>

namespace jitgemm::emulator {
namespace {

struct FragmentDetail {
    MmaKind kind{};  ///< of any wmma.mma with this fragment
    Operand operand{};
    bool row_major = true;
    ptx::StateSpace space = ptx::StateSpace::generic;
    std::uint32_t element_bytes = 2;
    std::size_t registers = 8;
    std::size_t elements = 16;
};

/// wmma_coordinate gives (m, k) of A, (n, k) of B, (m, n) of C; in memory B is k × n.
std::uint64_t element_offset(const FragmentDetail& detail, std::size_t lane, std::size_t element,
                             std::uint64_t stride) {
    const Coordinate at =
        wmma_coordinate(detail.kind, detail.operand, static_cast<int>(lane), static_cast<int>(element));
    const auto first = static_cast<std::uint64_t>(at.row);
    const auto second = static_cast<std::uint64_t>(at.column);
    const std::uint64_t row = detail.operand == Operand::b ? second : first;
    const std::uint64_t column = detail.operand == Operand::b ? first : second;
    return (detail.row_major ? row * stride + column : column * stride + row) * detail.element_bytes;
}

/// One element of every lane.
WarpAccess element_access(Warp& warp, const Instruction& instruction, std::size_t element, Access access) {
    const auto& detail = instruction.detail<FragmentDetail>();
    WarpAccess elements{detail.space, access, detail.element_bytes,
                        lane_addresses(warp, instruction, detail.registers)};
    const Source<std::uint32_t> stride(warp, instruction.values[detail.registers + 1]);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        elements.addresses[lane] += element_offset(detail, lane, element, stride[lane]);
    }
    return elements;
}

void execute_load(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.require_converged(mask, "wmma.load");
    const auto& detail = instruction.detail<FragmentDetail>();
    const std::size_t per_register = detail.elements / detail.registers;
    for (std::size_t i = 0; i < detail.registers; ++i) {
        std::array<std::uint32_t, kLanes> bits{};
        for (std::size_t part = 0; part < per_register; ++part) {
            WarpAccess access = element_access(warp, instruction, i * per_register + part, Access::read);
            const LanePointers from = resolve(warp, access, kAllLanes);
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                std::uint32_t element = 0;
                if (from[lane] != nullptr) std::memcpy(&element, from[lane], detail.element_bytes);
                bits[lane] |= element << (16 * part);
            }
        }
        const Destination<std::uint32_t> d(warp, instruction.values[i]);
        for (std::size_t lane = 0; lane < kLanes; ++lane) d.set(lane, bits[lane]);
    }
}

void execute_store(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.require_converged(mask, "wmma.store");
    const auto& detail = instruction.detail<FragmentDetail>();
    const std::size_t per_register = detail.elements / detail.registers;
    for (std::size_t element = 0; element < detail.elements; ++element) {
        WarpAccess access = element_access(warp, instruction, element, Access::write);
        const LanePointers to = resolve(warp, access, kAllLanes);
        const Source<std::uint32_t> source(warp, instruction.values[element / per_register]);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t bits = source[lane] >> (16 * (element % per_register));
            std::array<std::byte, sizeof bits> value{};
            std::memcpy(value.data(), &bits, sizeof bits);
            if (to[lane] != nullptr) put(warp, access, lane, to[lane], value.data());
        }
    }
}

void execute_wmma(Warp& warp, const Instruction& instruction, Mask mask) {
    execute_mma_operands(warp, instruction, mask, wmma);
}

// ---- decoding -------------------------------------------------------------------------------------------------------

bool take_row_major(InstructionDecoder& decoder) {
    const std::string layout = decoder.take_any({"row", "col"});
    if (layout.empty()) decoder.unsupported();
    return layout == "row";
}

Operand take_operand(InstructionDecoder& decoder) {
    const std::string name = decoder.take_any({"a", "b", "c", "d"});
    if (name.empty()) decoder.unsupported();
    return name == "a" ? Operand::a : name == "b" ? Operand::b : Operand::c;
}

/// A kind that has such a fragment: of A and B its type, of C and D the accumulator's.
MmaKind kind_of(const MmaKind& shape, Operand operand, MmaType type) {
    MmaKind kind = shape;
    const bool accumulator = operand == Operand::c;
    kind.a = kind.b = accumulator ? MmaType::f16 : type;
    kind.c = kind.d = accumulator ? type : MmaType::f32;
    return kind;
}

FragmentDetail take_fragment(InstructionDecoder& decoder) {
    FragmentDetail detail;
    detail.operand = take_operand(decoder);
    if (!decoder.take("sync") || !decoder.take("aligned")) decoder.unsupported();
    detail.row_major = take_row_major(decoder);
    take_mma_shape(decoder, detail.kind);
    const std::string space = decoder.take_any({"global", "shared", "shared::cta"});
    if (!space.empty()) detail.space = space == "global" ? ptx::StateSpace::global : ptx::StateSpace::shared;
    const std::optional<MmaType> type = mma_type(decoder.take_next());
    decoder.finish_modifiers();
    if (!type) decoder.unsupported();
    detail.kind = kind_of(detail.kind, detail.operand, *type);
    if (!is_supported_wmma(detail.kind)) decoder.unsupported();
    const MmaRegisters registers = wmma_registers(detail.kind);
    detail.registers = static_cast<std::size_t>(detail.operand == Operand::a   ? registers.a
                                                : detail.operand == Operand::b ? registers.b
                                                                               : registers.c);
    detail.elements = static_cast<std::size_t>(wmma_elements(detail.kind, detail.operand));
    detail.element_bytes = *type == MmaType::f32 ? 4 : 2;
    return detail;
}

/// Elements between rows (columns where columns are contiguous): the packed matrix's where it is not said.
void add_stride(InstructionDecoder& decoder, const FragmentDetail& detail) {
    if (decoder.operands() == 3) return decoder.add(2, OperandType::bits32);
    const MmaKind& kind = detail.kind;
    const int rows = detail.operand == Operand::b ? kind.k : kind.m;
    const int columns = detail.operand == Operand::a ? kind.k : kind.n;
    decoder.result().values.push_back(
        decoder.scope().constants.word(static_cast<std::uint32_t>(detail.row_major ? columns : rows)));
}

void decode_load(InstructionDecoder& decoder) {
    const FragmentDetail detail = take_fragment(decoder);
    decoder.require_operands(2, 3);
    decoder.add_each(0, OperandType::bits32, detail.registers);
    decoder.add_address(1);
    add_stride(decoder, detail);
    decoder.destinations(detail.registers);
    decoder.detail(detail);
    decoder.execute(InstructionKind::matrix_load, execute_load);
}

void decode_store(InstructionDecoder& decoder) {
    const FragmentDetail detail = take_fragment(decoder);
    decoder.require_operands(2, 3);
    decoder.add_each(1, OperandType::bits32, detail.registers);
    decoder.add_address(0);
    add_stride(decoder, detail);
    decoder.detail(detail);
    decoder.execute(InstructionKind::matrix_store, execute_store);
}

/// .d.c of f16 products, .d.a.b.c of others.
void take_multiply_types(InstructionDecoder& decoder, MmaKind& kind) {
    std::vector<MmaType> types;
    while (!decoder.left_over().empty()) {
        const std::optional<MmaType> type = mma_type(decoder.take_next());
        if (!type) decoder.unsupported();
        types.push_back(*type);
    }
    if (types.size() != 2 && types.size() != 4) decoder.unsupported();
    kind.d = types.front();
    kind.c = types.back();
    kind.a = types.size() == 4 ? types[1] : MmaType::f16;
    kind.b = types.size() == 4 ? types[2] : MmaType::f16;
}

void decode_multiply(InstructionDecoder& decoder) {
    if (!decoder.take("sync") || !decoder.take("aligned")) decoder.unsupported();
    take_row_major(decoder);  // how A and B were loaded; a fragment is the same
    take_row_major(decoder);
    MmaDetail detail;
    take_mma_shape(decoder, detail.kind);
    take_multiply_types(decoder, detail.kind);
    if (!is_supported_wmma(detail.kind)) decoder.unsupported();
    detail.registers = wmma_registers(detail.kind);
    add_mma_operands(decoder, detail);
    decoder.detail(detail);
    decoder.execute(InstructionKind::tensor, execute_wmma);
}

void decode_wmma(InstructionDecoder& decoder) {
    if (decoder.take("load")) return decode_load(decoder);
    if (decoder.take("store")) return decode_store(decoder);
    if (decoder.take("mma")) return decode_multiply(decoder);
    decoder.unsupported();
}

}  // namespace

std::vector<DecoderRow> wmma_decoders() { return {{"wmma", decode_wmma}}; }

}  // namespace jitgemm::emulator
