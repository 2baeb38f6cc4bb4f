// cp.async.bulk and cp.async.bulk.tensor, their groups and waits, their prefetches; prefetch.tensormap.

#include "runtime/emulator/bulk_copy.hpp"
#include "runtime/emulator/cluster.hpp"
#include "runtime/emulator/encoded_tensor_map.hpp"
#include "runtime/emulator/instruction_decoder.hpp"

#include <fmt/format.h>

#include <cstring>

namespace jitgemm::emulator {

void decode_bulk_copy(InstructionDecoder& decoder);
void decode_prefetch_tensor_map(InstructionDecoder& decoder);

namespace {

struct BulkCopyDetail {
    ptx::StateSpace shared_space = ptx::StateSpace::cluster;
    int rank = 0;  ///< of the tensor; 0: no tensor but a row of bytes
    bool multicast = false;
    std::int64_t shared_displacement = 0;
    std::int64_t global_displacement = 0;
    std::int64_t mbarrier_displacement = 0;
};

// values: address in shared memory, address in global memory or of the map, coordinates or the size; of a load the
// mbarrier and, where there is one, the mask of blocks. A prefetch has its global address in the place of the first,
// too.

std::size_t index_behind(const BulkCopyDetail& detail) {
    return 2 + static_cast<std::size_t>(std::max(detail.rank, 1));
}

// ---- tensor maps ----------------------------------------------------------------------------------------------------

/// The 128 bytes at a generic address, which lie at a multiple of 64.
EncodedTensorMap read_encoded(Warp& warp, std::size_t lane, std::uint64_t address) {
    EncodedTensorMap encoded;
    const std::size_t half = encoded.bytes.size() / 2;
    for (std::size_t first = 0; first < encoded.bytes.size(); first += half) {
        WarpAccess access{.bytes = static_cast<std::uint32_t>(half)};
        access.addresses[lane] = address + first;
        const std::byte* from = resolve(warp, access, Mask{1} << lane)[lane];
        if (from != nullptr) std::memcpy(encoded.bytes.data() + first, from, half);
    }
    warp.at_lane(static_cast<int>(lane));
    return encoded;
}

TiledTensorMap read_tensor_map(Warp& warp, std::size_t lane, std::uint64_t address) {
    const auto map = decode_tensor_map(read_encoded(warp, lane, address));
    if (map) return *map;
    throw AccessFault{FaultKind::tensor_map,
                      fmt::format("the 128 bytes at generic address {:#x} are no tensor map", address)};
}

BoxStart start_of(Warp& warp, const Instruction& instruction, std::size_t lane, int rank) {
    BoxStart start{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
        start.at(i) = static_cast<std::int32_t>(warp.words(instruction.values[2 + i])[lane]);
    }
    return start;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

void require_multiple(std::uint64_t value, std::uint32_t unit, const char* what) {
    if (value % unit == 0) return;
    throw AccessFault{FaultKind::misaligned, fmt::format("{} {} is no multiple of {}", what, value, unit)};
}

BulkChunks chunks_of(Warp& warp, const Instruction& instruction, std::size_t lane, std::uint32_t offset,
                     Access access) {
    const auto& detail = instruction.detail<BulkCopyDetail>();
    const std::uint64_t address = lane_addresses(warp, instruction.values[1], detail.global_displacement)[lane];
    if (detail.rank == 0) {
        const std::uint32_t bytes = warp.words(instruction.values[2])[lane];
        require_multiple(offset, kBulkChunkBytes, "offset in shared memory");
        require_multiple(bytes, kBulkChunkBytes, "size");
        return line_chunks(warp, address, bytes, offset, access);
    }
    const TiledTensorMap map = read_tensor_map(warp, lane, address);
    if (map.rank != detail.rank) {
        throw AccessFault{FaultKind::tensor_map,
                          fmt::format("a map of rank {} in an instruction of {}d", map.rank, detail.rank)};
    }
    require_multiple(offset, kTmaSharedAlignment, "offset in shared memory");
    return box_chunks(warp, map, start_of(warp, instruction, lane, detail.rank), offset, access);
}

/// The ranks that a load goes to: those of the mask, else the destination's.
std::uint32_t ranks_of(Warp& warp, const Instruction& instruction, std::size_t lane, const SharedPlace& destination,
                       const SharedPlace& mbarrier) {
    const auto& detail = instruction.detail<BulkCopyDetail>();
    const auto blocks = static_cast<unsigned>(warp.block().cluster().blocks().size());
    if (!detail.multicast) {
        if (destination.block == mbarrier.block) return 1U << static_cast<unsigned>(destination.block->rank());
        throw AccessFault{FaultKind::mbarrier,
                          fmt::format("a copy to {} names an mbarrier of {}: only a multicast may name another block's",
                                      destination.block->name(), mbarrier.block->name())};
    }
    const std::uint32_t mask = warp.words(instruction.values.back())[lane];
    if (mask != 0 && mask >> blocks == 0) return mask;
    throw AccessFault{FaultKind::out_of_range,
                      fmt::format("a multicast to blocks {:#06x} of a cluster of {}", mask, blocks)};
}

void load_lane(Warp& warp, const Instruction& instruction, std::size_t lane) {
    const auto& detail = instruction.detail<BulkCopyDetail>();
    const auto place = [&](std::size_t value, std::int64_t displacement) {
        const std::uint64_t address = lane_addresses(warp, instruction.values[value], displacement)[lane];
        return shared_place(warp, detail.shared_space, address, Access::write);
    };
    const SharedPlace destination = place(0, detail.shared_displacement);
    const SharedPlace mbarrier = place(index_behind(detail), detail.mbarrier_displacement);
    const std::uint32_t ranks = ranks_of(warp, instruction, lane, destination, mbarrier);
    const BulkLoad load{
        {warp.number(), instruction.index},
        std::make_shared<const BulkChunks>(chunks_of(warp, instruction, lane, destination.offset, Access::read))};
    for_each_bit(ranks, [&](std::size_t rank) {
        Block& block = *warp.block().cluster().blocks()[rank];
        require_alive(warp, block, Access::write);
        require_in_range(block.shared(), *load.chunks);
        block.mbarriers().issue(mbarrier.offset, load);
        if (&block != &warp.block()) warp.tally().peer_bytes += load.bytes();
    });
}

void store_lane(Warp& warp, const Instruction& instruction, std::size_t lane) {
    const auto& detail = instruction.detail<BulkCopyDetail>();
    const std::uint64_t address = lane_addresses(warp, instruction.values[0], detail.shared_displacement)[lane];
    const SharedPlace source = shared_place(warp, detail.shared_space, address, Access::read);
    BulkChunks chunks = chunks_of(warp, instruction, lane, source.offset, Access::write);
    require_in_range(source.block->shared(), chunks);
    warp.bulk_stores().issue(lane, {warp.number(), instruction.index}, std::move(chunks));
}

/// Checked as a load is. It counts for nothing: the load that follows counts these bytes.
void prefetch_lane(Warp& warp, const Instruction& instruction, std::size_t lane) {
    const Tally before = warp.tally();
    static_cast<void>(chunks_of(warp, instruction, lane, 0, Access::read));
    warp.tally() = before;
}

/// Every lane makes a copy of its own.
template <void (*kCopyLane)(Warp&, const Instruction&, std::size_t)>
void execute_bulk(Warp& warp, const Instruction& instruction, Mask mask) {
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        kCopyLane(warp, instruction, lane);
    });
    warp.at_lane(-1);
}

void execute_bulk_commit(Warp& warp, const Instruction& /*unused*/, Mask mask) { warp.bulk_stores().commit(mask); }

void execute_bulk_wait(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.bulk_stores().wait_group(mask, static_cast<std::uint32_t>(instruction.immediate));
}

void execute_prefetch(Warp& warp, const Instruction& instruction, Mask mask) {
    const LaneAddresses addresses = lane_addresses(warp, instruction, 0);
    for_each_bit(mask, [&](std::size_t lane) { static_cast<void>(read_tensor_map(warp, lane, addresses[lane])); });
    warp.at_lane(-1);
}

// ---- decoding -------------------------------------------------------------------------------------------------------

void decode_bulk_wait(InstructionDecoder& decoder) {
    decoder.take("read");
    decoder.finish_modifiers();
    decoder.require_operands(1, 1);
    const std::int64_t groups = decoder.constant(0);
    if (groups < 0) decoder.unsupported();
    decoder.result().immediate = groups;
    decoder.execute(InstructionKind::async_wait, execute_bulk_wait);
}

/// Operand `global` with its coordinates, or the address alone and the size in the operand `size`.
void add_global_side(InstructionDecoder& decoder, BulkCopyDetail& detail, std::size_t global, std::size_t size) {
    const auto& address = decoder.operand(global);
    const std::size_t rank = static_cast<std::size_t>(detail.rank);
    if (address.elements.size() != (rank == 0 ? 1 : 2)) decoder.unsupported("an address and its coordinates");
    detail.global_displacement = decoder.add_base(global);
    if (rank == 0) return decoder.add(size, OperandType::bits32);
    const ptx::Operand& coordinates = address.elements[1];
    if (coordinates.elements.size() != rank) decoder.unsupported(fmt::format("{} coordinates are needed", rank));
    for (const ptx::Operand& coordinate : coordinates.elements) {
        decoder.add_element(coordinate, OperandType::bits32);
    }
}

/// [shared], [map, {…}], [mbarrier] or [shared], [global], size, [mbarrier]; then the mask and a cache policy.
void decode_load(InstructionDecoder& decoder, BulkCopyDetail detail, const std::string& space) {
    detail.shared_space = space == "shared::cta" ? ptx::StateSpace::shared : ptx::StateSpace::cluster;
    detail.multicast = decoder.take("multicast::cluster");
    const bool known = decoder.take("global") && decoder.take("mbarrier::complete_tx::bytes");
    const bool hint = decoder.take("L2::cache_hint");
    if (!known) decoder.unsupported();
    decoder.finish_modifiers();
    const std::size_t mbarrier = detail.rank == 0 ? 3 : 2;
    const std::size_t operands = mbarrier + 1 + (detail.multicast ? 1 : 0) + (hint ? 1 : 0);
    decoder.require_operands(operands, operands);
    detail.shared_displacement = decoder.add_base(0);
    add_global_side(decoder, detail, 1, 2);
    detail.mbarrier_displacement = decoder.add_base(mbarrier);
    if (detail.multicast) decoder.add(mbarrier + 1, OperandType::bits16);
    decoder.detail(detail);
    decoder.execute(InstructionKind::bulk_copy, execute_bulk<load_lane>);
}

/// [map, {…}], [shared] or [global], [shared], size; then a cache policy.
void decode_store(InstructionDecoder& decoder, BulkCopyDetail detail) {
    detail.shared_space = ptx::StateSpace::shared;
    const bool known = decoder.take("shared::cta") && decoder.take("bulk_group");
    const bool hint = decoder.take("L2::cache_hint");
    if (!known) decoder.unsupported();
    decoder.finish_modifiers();
    const std::size_t operands = (detail.rank == 0 ? 3U : 2U) + (hint ? 1U : 0U);
    decoder.require_operands(operands, operands);
    detail.shared_displacement = decoder.add_base(1);
    add_global_side(decoder, detail, 0, 2);
    decoder.detail(detail);
    decoder.execute(InstructionKind::bulk_copy, execute_bulk<store_lane>);
}

/// [map, {…}], or [global], size; then a cache policy.
void decode_prefetch(InstructionDecoder& decoder, BulkCopyDetail detail) {
    const bool known = decoder.take("L2") && decoder.take("global");
    if (detail.rank != 0) decoder.take("tile");
    const bool hint = decoder.take("L2::cache_hint");
    if (!known) decoder.unsupported();
    decoder.finish_modifiers();
    const std::size_t operands = (detail.rank == 0 ? 2U : 1U) + (hint ? 1U : 0U);
    decoder.require_operands(operands, operands);
    static_cast<void>(decoder.add_base(0));
    add_global_side(decoder, detail, 0, 1);
    decoder.detail(detail);
    decoder.execute(InstructionKind::bulk_copy, execute_bulk<prefetch_lane>);
}

int take_rank(InstructionDecoder& decoder) {
    const std::string rank = decoder.take_any({"1d", "2d", "3d", "4d", "5d"});
    if (rank.empty()) decoder.unsupported("a tensor of 1 to 5 dimensions is needed");
    decoder.take("tile");
    return rank.front() - '0';
}

}  // namespace

/// Decodes the part of the name after cp.async.bulk.
void decode_bulk_copy(InstructionDecoder& decoder) {
    decoder.require_cluster_target();
    if (decoder.take("commit_group")) {
        decoder.finish_modifiers();
        decoder.require_operands(0, 0);
        return decoder.execute(InstructionKind::async_wait, execute_bulk_commit);
    }
    if (decoder.take("wait_group")) return decode_bulk_wait(decoder);
    const bool is_prefetch = decoder.take("prefetch");
    BulkCopyDetail detail;
    if (decoder.take("tensor")) detail.rank = take_rank(decoder);
    if (is_prefetch) return decode_prefetch(decoder, detail);
    const std::string destination = decoder.take_next();  // the first space is the destination's
    if (destination == "global") return decode_store(decoder, detail);
    if (destination != "shared::cluster" && destination != "shared::cta") decoder.unsupported();
    decode_load(decoder, detail, destination);
}

/// The map must be one: that it is fetched early computes nothing.
void decode_prefetch_tensor_map(InstructionDecoder& decoder) {
    decoder.finish_modifiers();
    decoder.require_operands(1, 1);
    decoder.require_cluster_target();
    decoder.add_address(0);
    decoder.execute(InstructionKind::control, execute_prefetch);
}

}  // namespace jitgemm::emulator
