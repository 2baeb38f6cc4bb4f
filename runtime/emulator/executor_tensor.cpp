// mma.sync, and what it shares with wmma.mma.

#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/tensor_operands.hpp"

#include <cstdio>
#include <cstring>

namespace jitgemm::emulator {
namespace {

constexpr std::size_t kMostRegisters = 16;  // of one operand
using OperandRegisters = std::array<std::uint32_t, kMostRegisters * kLanes>;

/// Copies `count` 32-bit registers per lane from the values from `first` on; f64 as its low and high word.
void gather(const Warp& warp, const Instruction& instruction, std::size_t first, int count, bool doublewords,
            OperandRegisters& registers) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        std::uint32_t* row = registers.data() + i * kLanes;
        if (!doublewords) {
            std::memcpy(row, warp.words(instruction.values[first + i]), kLanes * sizeof(std::uint32_t));
            continue;
        }
        const std::uint64_t* wide = warp.doublewords(instruction.values[first + i / 2]);
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            row[lane] = static_cast<std::uint32_t>(wide[lane] >> (32 * (i % 2)));
    }
}

void scatter(Warp& warp, const Instruction& instruction, int count, bool doublewords,
             const OperandRegisters& registers) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); i += doublewords ? 2 : 1) {
        const std::uint32_t* row = registers.data() + i * kLanes;
        if (!doublewords) {
            const Destination<std::uint32_t> d(warp, instruction.values[i]);
            for (std::size_t lane = 0; lane < kLanes; ++lane) d.set(lane, row[lane]);
            continue;
        }
        const Destination<std::uint64_t> d(warp, instruction.values[i / 2]);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            d.set(lane, std::uint64_t{row[kLanes + lane]} << 32U | row[lane]);
        }
    }
}

std::size_t values_of(int registers, bool doublewords) {
    return static_cast<std::size_t>(doublewords ? registers / 2 : registers);
}

void execute_mma(Warp& warp, const Instruction& instruction, Mask mask) {
    execute_mma_operands(warp, instruction, mask, mma);
}

MmaType take_type(InstructionDecoder& decoder) {
    const std::optional<MmaType> type = mma_type(decoder.take_next());
    if (!type) decoder.unsupported();
    return *type;
}

void decode_mma(InstructionDecoder& decoder) {
    if (!decoder.take("sync") || !decoder.take("aligned")) decoder.unsupported();
    MmaDetail detail;
    take_mma_shape(decoder, detail.kind);
    if (!decoder.take("row") || !decoder.take("col")) decoder.unsupported();
    detail.kind.saturate = decoder.take("satfinite");
    detail.kind.d = take_type(decoder);
    detail.kind.a = take_type(decoder);
    detail.kind.b = take_type(decoder);
    detail.kind.c = take_type(decoder);
    decoder.finish_modifiers();
    if (!is_supported(detail.kind)) decoder.unsupported();
    detail.registers = mma_registers(detail.kind);
    detail.doublewords = detail.kind.d == MmaType::f64;
    add_mma_operands(decoder, detail);
    decoder.detail(detail);
    decoder.execute(InstructionKind::tensor, execute_mma);
}

}  // namespace

std::optional<MmaType> mma_type(std::string_view ptx_name) {
    for (const MmaTypeInfo& row : mma_type_table()) {
        if (row.ptx_name == ptx_name) return row.type;
    }
    return std::nullopt;
}

void take_mma_shape(InstructionDecoder& decoder, MmaKind& kind) {
    const std::string name = decoder.take_next();
    int read = 0;
    // A text that is no shape reads fewer numbers.
    // NOLINTNEXTLINE(cert-err34-c,bugprone-unchecked-string-to-number-conversion)
    if (std::sscanf(name.c_str(), "m%dn%dk%d%n", &kind.m, &kind.n, &kind.k, &read) != 3 ||
        static_cast<std::size_t>(read) != name.size()) {
        decoder.unsupported("shape ." + name);
    }
}

void execute_mma_operands(Warp& warp, const Instruction& instruction, Mask mask, MmaFunction multiply) {
    warp.require_converged(mask, "a tensor-core instruction");
    const auto& detail = instruction.detail<MmaDetail>();
    const std::size_t a_at = values_of(detail.registers.c, detail.doublewords);
    const std::size_t b_at = a_at + values_of(detail.registers.a, detail.doublewords);
    const std::size_t c_at = b_at + values_of(detail.registers.b, detail.doublewords);
    OperandRegisters a;  // NOLINT(cppcoreguidelines-pro-type-member-init): gathered
    OperandRegisters b;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    OperandRegisters c;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    gather(warp, instruction, a_at, detail.registers.a, detail.doublewords, a);
    gather(warp, instruction, b_at, detail.registers.b, detail.doublewords, b);
    gather(warp, instruction, c_at, detail.registers.c, detail.doublewords, c);
    multiply(detail.kind, warp.launch().tensor_core_model, a.data(), b.data(), c.data(), c.data());
    scatter(warp, instruction, detail.registers.c, detail.doublewords, c);
    warp.tally().operations += 2ULL * static_cast<std::uint64_t>(detail.kind.m * detail.kind.n * detail.kind.k);
}

void add_mma_operands(InstructionDecoder& decoder, const MmaDetail& detail) {
    const OperandType type = detail.doublewords ? OperandType::bits64 : OperandType::bits32;
    const std::size_t c = values_of(detail.registers.c, detail.doublewords);
    decoder.require_operands(4, 4);
    decoder.add_each(0, type, c);
    decoder.add_each(1, type, values_of(detail.registers.a, detail.doublewords));
    decoder.add_each(2, type, values_of(detail.registers.b, detail.doublewords));
    decoder.add_each(3, type, c);
    decoder.destinations(c);
}

std::vector<DecoderRow> tensor_decoders() { return {{"mma", decode_mma}}; }

}  // namespace jitgemm::emulator
