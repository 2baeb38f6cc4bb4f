// wgmma of operands of 16 and 8 bits and of tf32, its fences and groups. A warp computes its own 16 rows, when it gets
// there; that the four warps of a warpgroup take the same steps is checked, not that they take them at once.

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/matrix_descriptor.hpp"
#include "runtime/emulator/tensor_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace jitgemm::emulator {
namespace {

constexpr std::uint32_t kRows = 16;      // of a warp
constexpr std::uint32_t kRowBytes = 32;  // of K
constexpr std::uint32_t kMostDepth = 32;
constexpr std::uint32_t kEight = 8;  // columns of D that four lanes hold, rows of a core matrix
constexpr std::uint32_t kChunkBytes = 16;
constexpr std::uint32_t kWarpsOfGroup = 4;
constexpr std::size_t kRegistersA = 4;

struct WgmmaDetail {
    MmaType a{};
    MmaType b{};
    MmaType sums{};
    std::uint32_t element_bytes = 2;
    std::uint32_t n = 8;
    std::size_t registers = 4;  ///< of the sums
    bool a_in_registers = false;
    bool a_k_major = true;
    bool b_k_major = true;
    bool negates = false;  ///< one of A and B, not both

    [[nodiscard]] std::uint32_t depth() const { return kRowBytes / element_bytes; }
    [[nodiscard]] std::uint32_t chunk() const { return kChunkBytes / element_bytes; }  ///< elements of 16 bytes
};

// values: the sums' registers; A's registers or descriptor; B's descriptor; the predicate of the addition.

/// 16 bytes of an operand.
struct Chunk {
    std::array<std::uint8_t, kChunkBytes> bytes{};

    [[nodiscard]] std::uint32_t element(std::uint32_t i, std::uint32_t size) const {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &bytes.at(std::size_t{i} * size), size);
        return bits;
    }
};

Chunk read_chunk(Warp& warp, const Instruction& instruction, std::uint32_t offset) {
    SharedMemory& shared = warp.block().shared();
    Chunk chunk{};
    if (!shared.in_range(offset, kChunkBytes, kChunkBytes)) return chunk;
    const Accessor who{warp.number(), instruction.index};
    shared.begin_async_read(who, offset, kChunkBytes);
    warp.warpgroup_sums().note_read(who, offset);
    std::memcpy(chunk.bytes.data(), shared.at(offset), kChunkBytes);
    return chunk;
}

/// Calls `put(row, k, bits)` for the elements of rows [first, first + rows) of an operand in shared memory.
void read_operand(Warp& warp, const Instruction& instruction, const MatrixDescriptor& descriptor, std::uint32_t first,
                  std::uint32_t rows, const auto& put) {
    const auto& detail = instruction.detail<WgmmaDetail>();
    const std::uint32_t size = detail.chunk();
    const std::uint32_t runs = descriptor.k_major() ? rows : rows / size;
    const std::uint32_t chunks = descriptor.k_major() ? detail.depth() / size : detail.depth();
    const std::uint32_t first_run = descriptor.k_major() ? first : first / size;
    for (std::uint32_t run = 0; run < runs; ++run)
        for (std::uint32_t c = 0; c < chunks; ++c) {
            const Chunk chunk = read_chunk(warp, instruction, descriptor.chunk(first_run + run, c));
            for (std::uint32_t i = 0; i < size; ++i) {
                const std::uint32_t bits = chunk.element(i, detail.element_bytes);
                descriptor.k_major() ? put(run, c * size + i, bits) : put(run * size + i, c, bits);
            }
        }
}

/// A's 16 rows of the warp, as mma.sync m16n8k16 has them in registers (8-bit elements: m16n8k32; tf32: m16n8k8).
void gather_a(const Warp& warp, const Instruction& instruction, const WgmmaDetail& detail, std::uint32_t* a) {
    const std::size_t per_word = 4 / detail.element_bytes;
    const std::size_t bits = 8 * std::size_t{detail.element_bytes};
    for (std::size_t i = 0; i < kRegistersA; ++i) {
        const std::uint32_t* row = warp.words(instruction.values[detail.registers + i]);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::size_t at = (lane / 4 + i % 2 * 8) * detail.depth() + (lane % 4 + i / 2 * 4) * per_word;
            for (std::size_t e = 0; e < per_word; ++e)
                a[at + e] = row[lane] >> (e * bits) & (0xffffffffU >> (32 - bits));
        }
    }
}

void read_a(Warp& warp, const Instruction& instruction, const WgmmaDetail& detail, std::uint64_t descriptor,
            std::uint32_t* a) {
    if (detail.a_in_registers) {
        gather_a(warp, instruction, detail, a);
    } else {
        const MatrixDescriptor place(descriptor, detail.a_k_major);
        const std::uint32_t first = static_cast<std::uint32_t>(warp.index()) % kWarpsOfGroup * kRows;
        read_operand(
            warp, instruction, place, first, kRows,
            [&](std::uint32_t row, std::uint32_t k, std::uint32_t bits) { a[row * detail.depth() + k] = bits; });
    }
    if (!detail.negates) return;
    for (std::uint32_t i = 0; i < kRows * detail.depth(); ++i) a[i] ^= 1U << (8 * detail.element_bytes - 1);
}

/// Calls `visit(word, half, row, column)` for each sum: a word of the registers' rows, of f16 sums one of its halves
/// (PTX ISA, "Register Fragments for wgmma": D).
void for_sums(const WgmmaDetail& detail, const auto& visit) {
    const std::size_t per_word = detail.sums == MmaType::f16 ? 2 : 1;
    for (std::size_t i = 0; i < detail.registers * per_word; ++i)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            visit(i / per_word * kLanes + lane, i % per_word, lane / 4 + i / 2 % 2 * 8,
                  i / 4 * kEight + lane % 4 * 2 + i % 2);
}

void unpack_sums(const WgmmaDetail& detail, const std::vector<std::uint32_t>& words, std::uint32_t* c) {
    for_sums(detail, [&](std::size_t word, std::size_t half, std::size_t row, std::size_t column) {
        c[row * detail.n + column] = detail.sums == MmaType::f16 ? words[word] >> (16 * half) & 0xffffU : words[word];
    });
}

void pack_sums(const WgmmaDetail& detail, const std::uint32_t* c, std::vector<std::uint32_t>& words) {
    for_sums(detail, [&](std::size_t word, std::size_t half, std::size_t row, std::size_t column) {
        const std::uint32_t sum = c[row * detail.n + column];
        words[word] = detail.sums != MmaType::f16 ? sum : half == 0 ? sum : words[word] | sum << 16U;
    });
}

/// Of all lanes, which must agree.
bool adds_to_sums(const Warp& warp, const Value& value) {
    const Mask adds = warp.predicate(value);
    if (adds == 0 || adds == kAllLanes) return adds != 0;
    warp.fail(FaultKind::barrier_divergence, fmt::format("scale-d of a wgmma is true in lanes {:#010x} alone", adds));
}

std::uint64_t descriptor_bits(const Warp& warp, const Value& value) {
    const std::uint64_t* lanes = warp.doublewords(value);
    const auto* const other = std::find_if(lanes, lanes + kLanes, [&](std::uint64_t bits) { return bits != lanes[0]; });
    if (other == lanes + kLanes) return lanes[0];
    const auto lane = static_cast<int>(other - lanes);
    warp.fail(FaultKind::barrier_divergence,
              fmt::format("a matrix descriptor is {:#018x} in lane 0 and {:#018x} in this one", lanes[0], *other),
              lane);
}

/// Values that must be equal in all four warps.
WarpgroupSteps::Step step_of(const Warp& warp, const Instruction& instruction, const WgmmaDetail& detail) {
    const std::vector<Value>& values = instruction.values;
    return {.site = instruction.index,
            .a = detail.a_in_registers ? 0 : descriptor_bits(warp, values[detail.registers]),
            .b = descriptor_bits(warp, values[values.size() - 2]),
            .adds = adds_to_sums(warp, values.back())};
}

/// Operations of the warp's rows; passes over the banks of the whole warpgroup, which reads an operand once.
void count(Warp& warp, const WgmmaDetail& detail) {
    constexpr std::uint32_t kPassBytes = 128;
    warp.tally().operations += std::uint64_t{2} * kRows * detail.n * detail.depth();
    if (static_cast<std::uint32_t>(warp.index()) % kWarpsOfGroup != 0) return;
    const std::uint32_t rows = detail.n + (detail.a_in_registers ? 0 : kWarpsOfGroup * kRows);
    warp.tally().wavefronts += rows * kRowBytes / kPassBytes;
    warp.tally().ideal_wavefronts += rows * kRowBytes / kPassBytes;
}

void execute_wgmma(Warp& warp, const Instruction& instruction, Mask mask) {
    require_warpgroup(warp, mask, "wgmma");
    const auto& detail = instruction.detail<WgmmaDetail>();
    const WarpgroupSteps::Step step = step_of(warp, instruction, detail);
    warp.block().warpgroup_steps().take(warp, step);
    std::array<std::uint32_t, std::size_t{kRows} * kMostDepth> a{};
    std::vector<std::uint32_t> b(std::size_t{detail.depth()} * detail.n);
    std::vector<std::uint32_t> c(std::size_t{kRows} * detail.n);
    const std::span values(instruction.values);
    std::vector<std::uint32_t>& words =
        warp.warpgroup_sums().begin(warp, values.first(detail.registers),
                                    values.subspan(detail.registers, detail.a_in_registers ? kRegistersA : 0));
    if (step.adds) unpack_sums(detail, words, c.data());
    read_a(warp, instruction, detail, step.a, a.data());
    const MatrixDescriptor place(step.b, detail.b_k_major);
    read_operand(warp, instruction, place, 0, detail.n,
                 [&](std::uint32_t column, std::uint32_t k, std::uint32_t bits) { b[k * detail.n + column] = bits; });
    wgmma_rows({detail.a, detail.b, detail.sums}, static_cast<int>(detail.n), a.data(), b.data(), c.data());
    pack_sums(detail, c.data(), words);
    count(warp, detail);
}

void execute_commit(Warp& warp, const Instruction& instruction, Mask mask) {
    require_warpgroup(warp, mask, "wgmma.commit_group");
    warp.block().warpgroup_steps().take(warp, {.site = instruction.index});
    warp.warpgroup_sums().commit();
}

void execute_wait(Warp& warp, const Instruction& instruction, Mask mask) {
    require_warpgroup(warp, mask, "wgmma.wait_group");
    warp.block().warpgroup_steps().take(warp, {.site = instruction.index});
    warp.warpgroup_sums().wait(warp, static_cast<std::uint64_t>(instruction.immediate));
}

void execute_fence(Warp& warp, const Instruction& instruction, Mask mask) {
    require_warpgroup(warp, mask, "wgmma.fence");
    warp.block().warpgroup_steps().take(warp, {.site = instruction.index});
    if (warp.in_entry()) warp.warpgroup_sums().registers().fence(warp);
}

// ---- decoding -------------------------------------------------------------------------------------------------------

MmaType take_type(InstructionDecoder& decoder) {
    const std::optional<MmaType> type = mma_type(decoder.take_next());
    if (!type) decoder.unsupported();
    return *type;
}

bool is_negative(InstructionDecoder& decoder, std::size_t operand) {
    const std::int64_t factor = decoder.constant(operand);
    if (factor != 1 && factor != -1) decoder.unsupported("a factor that is neither 1 nor -1");
    return factor == -1;
}

/// The sums that a wgmma of these operands has.
bool is_served(const WgmmaDetail& detail) {
    const bool f32 = detail.sums == MmaType::f32;
    if (is_float8(detail.a)) return is_float8(detail.b) && (f32 || detail.sums == MmaType::f16);
    if (detail.a != detail.b) return false;
    if (detail.a == MmaType::f16) return f32 || detail.sums == MmaType::f16;
    return ((detail.a == MmaType::bf16 || detail.a == MmaType::tf32) && f32) ||
           (detail.a == MmaType::s8 && detail.sums == MmaType::s32);
}

void take_types(InstructionDecoder& decoder, WgmmaDetail& detail) {
    MmaKind shape{};
    take_mma_shape(decoder, shape);
    detail.n = static_cast<std::uint32_t>(shape.n);
    detail.sums = take_type(decoder);
    detail.a = take_type(decoder);
    detail.b = take_type(decoder);
    detail.element_bytes = static_cast<std::uint32_t>(bits(detail.a)) / 8;
    const bool has_n = shape.n >= 8 && shape.n <= 256 && shape.n % 8 == 0 &&
                       (detail.sums != MmaType::s32 || shape.n <= 32 || shape.n % 16 == 0);
    if (!is_served(detail) || shape.m != 64 || shape.k != static_cast<int>(detail.depth()) || !has_n)
        decoder.unsupported("only m64nNk16 of f16 and bf16, m64nNk8 of tf32, and m64nNk32 of e4m3, e5m2 and s8");
    detail.registers = detail.n / (detail.sums == MmaType::f16 ? 4 : 2);
}

/// Factors of A and B, then which of them is transposed: of A in registers B alone can be. Only operands of 16 bits are
/// ever transposed, and integers have no factors.
void take_immediates(InstructionDecoder& decoder, WgmmaDetail& detail) {
    const std::size_t factors = detail.sums == MmaType::s32 ? 0 : 2;
    const std::size_t transposes = detail.element_bytes != 2 ? 0 : detail.a_in_registers ? 1 : 2;
    decoder.require_operands(4 + factors + transposes, 4 + factors + transposes);
    if (factors != 0) detail.negates = is_negative(decoder, 4) != is_negative(decoder, 5);
    if (transposes == 0) return;
    if (!detail.a_in_registers) detail.a_k_major = decoder.constant(6) == 0;
    detail.b_k_major = decoder.constant(5 + transposes) == 0;
}

void decode_multiply(InstructionDecoder& decoder) {
    WgmmaDetail detail;
    take_types(decoder, detail);
    decoder.finish_modifiers();
    detail.a_in_registers = !decoder.operand(1).elements.empty();
    take_immediates(decoder, detail);
    decoder.add_each(0, OperandType::bits32, detail.registers);
    if (detail.a_in_registers)
        decoder.add_each(1, OperandType::bits32, kRegistersA);
    else
        decoder.add(1, OperandType::bits64);
    decoder.add(2, OperandType::bits64);
    decoder.add(3, OperandType::predicate);
    decoder.destinations(detail.registers);
    decoder.detail(detail);
    decoder.result().keeps_registers = true;
    decoder.result().unwritten = UnwrittenSource::added_to;
    decoder.execute(InstructionKind::tensor, execute_wgmma);
}

void decode_wgmma(InstructionDecoder& decoder) {
    const std::string what = decoder.take_any({"mma_async", "fence", "commit_group", "wait_group"});
    if (what.empty() || !decoder.take("sync") || !decoder.take("aligned")) decoder.unsupported();
    if (what == "mma_async") return decode_multiply(decoder);
    decoder.finish_modifiers();
    const bool waits = what == "wait_group";
    decoder.require_operands(waits ? 1 : 0, waits ? 1 : 0);
    if (waits) decoder.result().immediate = decoder.constant(0);
    decoder.execute(InstructionKind::barrier, waits                    ? execute_wait
                                              : what == "commit_group" ? execute_commit
                                                                       : execute_fence);
}

}  // namespace

std::vector<DecoderRow> wgmma_decoders() { return {{"wgmma", decode_wgmma}}; }

}  // namespace jitgemm::emulator
