// mapa, getctarank, barrier.cluster.

#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/cluster.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {

void decode_cluster_barrier(InstructionDecoder& decoder);

namespace {

// ---- addresses ------------------------------------------------------------------------------------------------------

/// `address` less the window it is generic in, which must be that of shared memory; 0 for an address of
/// .shared::cluster.
std::uint64_t within_shared(std::uint64_t address, std::uint64_t window) {
    if (window == 0 || space_of(address) == ptx::StateSpace::shared) return address - window;
    throw AccessFault{FaultKind::out_of_range,
                      fmt::format("generic address {:#x} is not one of shared memory", address)};
}

std::uint64_t map_address(Warp& warp, std::uint64_t address, std::uint32_t rank, std::uint64_t window) {
    const auto blocks = static_cast<std::uint32_t>(warp.block().cluster().blocks().size());
    if (rank >= blocks) {
        throw AccessFault{FaultKind::out_of_range,
                          fmt::format("rank {} in a cluster whose ranks are 0 to {}", rank, blocks - 1)};
    }
    const std::uint64_t own = within_shared(address, window);
    static_cast<void>(rank_of(warp, own));  // throws where it is no address of the cluster
    return window + cluster_address(static_cast<int>(rank), own & kSharedOffsetMask);
}

/// d, a, rank: T is the type of a and d. `immediate` is the window of generic addresses, else 0.
template <typename T>
void execute_mapa(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> a(warp, instruction.values[1]);
    const Source<std::uint32_t> rank(warp, instruction.values[2]);
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        const auto window = static_cast<std::uint64_t>(instruction.immediate);
        d.set(lane, static_cast<T>(map_address(warp, a[lane], rank[lane], window)));
    });
    warp.at_lane(-1);
}

/// d, a: T is the type of a. `immediate` as of mapa.
template <typename T>
void execute_getctarank(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    const Source<T> a(warp, instruction.values[1]);
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        const std::uint64_t address = within_shared(a[lane], static_cast<std::uint64_t>(instruction.immediate));
        d.set(lane, static_cast<std::uint32_t>(rank_of(warp, address)));
    });
    warp.at_lane(-1);
}

// ---- barrier.cluster ------------------------------------------------------------------------------------------------

void execute_arrive_release(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.block().cluster().barrier().arrive(warp, instruction, mask, true);
}

void execute_arrive_relaxed(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.block().cluster().barrier().arrive(warp, instruction, mask, false);
}

void execute_wait(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.block().cluster().barrier().wait(warp, instruction, mask);
}

// ---- decoding -------------------------------------------------------------------------------------------------------

/// {.shared::cluster}.{u32,u64}: the type of addresses. Generic ones have 64 bits.
OperandType take_address_type(InstructionDecoder& decoder) {
    const bool shared = decoder.take("shared::cluster");
    const std::string type = decoder.take_any({"u32", "u64"});
    decoder.finish_modifiers();
    decoder.require_cluster_target();
    if (type.empty() || (type == "u32" && !shared)) decoder.unsupported();
    decoder.result().immediate = shared ? 0 : static_cast<std::int64_t>(kSharedWindow);
    return type == "u32" ? OperandType::bits32 : OperandType::bits64;
}

void decode_mapa(InstructionDecoder& decoder) {
    const OperandType type = take_address_type(decoder);
    decoder.require_operands(3, 3);
    decoder.add(0, type);
    decoder.add(1, type);
    decoder.add(2, OperandType::bits32);
    decoder.destinations(1);
    decoder.execute(InstructionKind::move,
                    type == OperandType::bits32 ? execute_mapa<std::uint32_t> : execute_mapa<std::uint64_t>);
}

void decode_getctarank(InstructionDecoder& decoder) {
    const OperandType type = take_address_type(decoder);
    decoder.require_operands(2, 2);
    decoder.add(0, OperandType::bits32);
    decoder.add(1, type);
    decoder.destinations(1);
    decoder.execute(InstructionKind::move, type == OperandType::bits32 ? execute_getctarank<std::uint32_t>
                                                                       : execute_getctarank<std::uint64_t>);
}

}  // namespace

/// Decodes the part of the name after barrier.cluster: arrive{.release,.relaxed} or wait{.acquire}, each with .aligned
/// or not. Without .aligned, part of a warp may arrive. The emulator needs a whole warp, as for barrier.cta.
void decode_cluster_barrier(InstructionDecoder& decoder) {
    const std::string verb = decoder.take_any({"arrive", "wait"});
    if (verb.empty()) decoder.unsupported();
    const bool relaxed = verb == "arrive" && decoder.take("relaxed");
    decoder.take(verb == "arrive" ? "release" : "acquire");
    decoder.take("aligned");
    decoder.finish_modifiers();
    decoder.require_operands(0, 0);
    decoder.require_cluster_target();
    const Handler arrive = relaxed ? execute_arrive_relaxed : execute_arrive_release;
    decoder.execute(InstructionKind::barrier, verb == "arrive" ? arrive : execute_wait);
}

std::vector<DecoderRow> cluster_decoders() { return {{"mapa", decode_mapa}, {"getctarank", decode_getctarank}}; }

}  // namespace jitgemm::emulator
