// cp.async, its groups and waits; cp.async.bulk is in executor_bulk_copy.cpp.

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {

void decode_bulk_copy(InstructionDecoder& decoder);  // in executor_bulk_copy.cpp

namespace {

enum class Partial : std::uint8_t { none, source_bytes, ignore_source };

struct CopyDetail {
    std::uint32_t bytes = 16;
    bool past_l1 = false;  ///< .cg
    Partial partial = Partial::none;
    std::int64_t destination_displacement = 0;
};

/// Bytes of each lane that are read; the rest become zeros.
std::array<std::uint32_t, kLanes> source_bytes(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto& detail = instruction.detail<CopyDetail>();
    std::array<std::uint32_t, kLanes> bytes;
    bytes.fill(detail.bytes);
    if (detail.partial == Partial::ignore_source) {
        const Mask ignored = warp.predicate(instruction.values[2]);
        for_lanes(mask, [&](std::size_t lane) { bytes[lane] = (ignored >> lane & 1U) != 0 ? 0 : detail.bytes; });
    } else if (detail.partial == Partial::source_bytes) {
        const Source<std::uint32_t> asked(warp, instruction.values[2]);
        for_lanes(mask, [&](std::size_t lane) { bytes[lane] = asked[lane]; });
    }
    return bytes;
}

void check_lane(Warp& warp, AsyncCopy& copy, std::size_t lane, std::uint64_t source, std::uint64_t destination) {
    warp.at_lane(static_cast<int>(lane));
    if (copy.source_bytes[lane] > copy.bytes) {
        throw AccessFault{FaultKind::out_of_range, fmt::format("a source size of {} in a copy of {} bytes",
                                                               copy.source_bytes[lane], copy.bytes)};
    }
    const std::uint64_t offset = shared_offset(warp, destination);
    // A source that is not read may lie anywhere: GPUs take kernels whose threads beyond the last row point nowhere.
    copy.source[lane] = copy.source_bytes[lane] == 0
                            ? nullptr
                            : resolve_global(warp, source, copy.source_bytes[lane], copy.bytes, Access::read).host;
    const bool skip = copy.source[lane] == nullptr && copy.source_bytes[lane] > 0;
    if (!warp.block().shared().in_range(offset, copy.bytes, copy.bytes) || skip) copy.mask &= ~(Mask{1} << lane);
    copy.destination[lane] = static_cast<std::uint32_t>(offset);
}

void count_global(Tally& tally, const AsyncCopy& copy, bool past_l1, const LaneAddresses& sources,
                  const LaneAddresses& destinations) {
    Mask reading = 0;
    std::uint64_t bytes = 0;
    for_lanes(copy.mask, [&](std::size_t lane) {
        reading |= static_cast<Mask>(copy.source_bytes[lane] > 0) << lane;
        bytes += copy.source_bytes[lane];
    });
    tally.global_read_bytes += bytes;
    CopySectors sectors;
    if (past_l1) {
        sectors = count_copy_sectors(sources, destinations, reading);
    } else {
        sectors.l1 = sectors.l2 = count_sectors(sources, reading, copy.bytes);
    }
    tally.sectors += static_cast<std::uint64_t>(sectors.l1);
    tally.l2_sectors += static_cast<std::uint64_t>(sectors.l2);
}

void count_shared(Tally& tally, const AsyncCopy& copy, const LaneAddresses& destinations) {
    const Wavefronts wavefronts = count_wavefronts(destinations, copy.mask, copy.bytes);
    tally.wavefronts += static_cast<std::uint64_t>(wavefronts.actual);
    tally.ideal_wavefronts += static_cast<std::uint64_t>(wavefronts.ideal);
}

/// values: destination, source, and a source size or a predicate. `immediate` displaces the source.
void execute_copy(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto& detail = instruction.detail<CopyDetail>();
    const LaneAddresses destinations = lane_addresses(warp, instruction.values[0], detail.destination_displacement);
    const LaneAddresses sources = lane_addresses(warp, instruction, 1);
    AsyncCopy copy{.mask = mask, .bytes = detail.bytes, .who = {warp.number(), instruction.index}};
    copy.source_bytes = source_bytes(warp, instruction, mask);
    for_each_bit(mask, [&](std::size_t lane) { check_lane(warp, copy, lane, sources[lane], destinations[lane]); });
    count_global(warp.tally(), copy, detail.past_l1, sources, destinations);
    count_shared(warp.tally(), copy, destinations);
    warp.copies().issue(copy);
}

void execute_commit(Warp& warp, const Instruction& /*unused*/, Mask mask) { warp.copies().commit(mask); }

void execute_wait_group(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.copies().wait_group(mask, static_cast<std::uint32_t>(instruction.immediate));
}

void execute_wait_all(Warp& warp, const Instruction& /*unused*/, Mask mask) { warp.copies().wait_all(mask); }

// ---- decoding -------------------------------------------------------------------------------------------------------

void decode_wait_group(InstructionDecoder& decoder) {
    decoder.finish_modifiers();
    decoder.require_operands(1, 1);
    const std::int64_t groups = decoder.constant(0);
    if (groups < 0) decoder.unsupported();
    decoder.result().immediate = groups;
    decoder.execute(InstructionKind::async_wait, execute_wait_group);
}

void decode_plain(InstructionDecoder& decoder, InstructionKind kind, Handler handler) {
    decoder.finish_modifiers();
    decoder.require_operands(0, 0);
    decoder.execute(kind, handler);
}

/// The fourth operand: a predicate ignores the source, a number is how much of it to read.
void add_partial(InstructionDecoder& decoder, CopyDetail& detail) {
    const ptx::Operand& operand = decoder.operand(3);
    const bool predicate = operand.kind == ptx::OperandKind::reg &&
                           decoder.scope().source.registers[static_cast<std::size_t>(operand.index)].bits == 1;
    detail.partial = predicate ? Partial::ignore_source : Partial::source_bytes;
    decoder.add(3, predicate ? OperandType::predicate : OperandType::bits32);
}

void decode_copy(InstructionDecoder& decoder) {
    const bool only_16 = decoder.take("cg");
    if (!only_16 && !decoder.take("ca")) decoder.unsupported();
    if (decoder.take_any({"shared", "shared::cta"}).empty() || !decoder.take("global")) decoder.unsupported();
    const bool cache_hint = decoder.take("L2::cache_hint");
    decoder.take_any({"L2::64B", "L2::128B", "L2::256B"});
    decoder.finish_modifiers();
    decoder.require_operands(3, cache_hint ? 5 : 4);
    CopyDetail detail;
    detail.past_l1 = only_16;
    detail.bytes = static_cast<std::uint32_t>(decoder.constant(2));
    if (detail.bytes != 16 && (only_16 || (detail.bytes != 4 && detail.bytes != 8))) decoder.unsupported();
    decoder.add_address(0);
    detail.destination_displacement = decoder.result().immediate;
    decoder.add_address(1);
    if (decoder.operands() > (cache_hint ? 4U : 3U)) add_partial(decoder, detail);
    decoder.detail(detail);
    decoder.execute(InstructionKind::async_copy, execute_copy);
}

void decode_cp(InstructionDecoder& decoder) {
    if (!decoder.take("async")) decoder.unsupported();
    if (decoder.take("bulk")) return decode_bulk_copy(decoder);
    if (decoder.take("commit_group")) return decode_plain(decoder, InstructionKind::async_wait, execute_commit);
    if (decoder.take("wait_all")) return decode_plain(decoder, InstructionKind::async_wait, execute_wait_all);
    if (decoder.take("wait_group")) return decode_wait_group(decoder);
    decode_copy(decoder);
}

}  // namespace

std::vector<DecoderRow> async_copy_decoders() { return {{"cp", decode_cp}}; }

}  // namespace jitgemm::emulator
