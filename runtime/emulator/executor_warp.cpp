// Instructions that the lanes of a warp execute together: shfl, vote, match, redux, elect, activemask.

#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"

#include <fmt/format.h>

#include <bit>

namespace jitgemm::emulator {
namespace {

/// The lanes that a .sync instruction names; the threads among them that live must all be here (PTX ISA: else
/// undefined).
void require_members(Warp& warp, const Instruction& instruction, Mask mask, const Value& members) {
    const std::uint32_t* named = warp.words(members);
    for_each_bit(mask, [&](std::size_t lane) {
        const Mask own = named[lane];
        const Mask absent = own & warp.live() & ~mask;
        if ((own >> lane & 1U) != 0 && absent == 0) return;
        warp.fail(
            FaultKind::barrier_divergence,
            (own >> lane & 1U) == 0
                ? fmt::format("{} with a member mask of {:#010x}, which lacks the thread's own lane",
                              instruction.source->name, own)
                : fmt::format("{} waits for lanes {:#010x}, which are elsewhere", instruction.source->name, absent),
            static_cast<int>(lane));
    });
}

// ---- shfl -----------------------------------------------------------------------------------------------------------

enum class Shuffle : std::uint8_t { up, down, butterfly, index };

struct SourceLane {
    int lane;
    bool in_range;
};

/// The pseudocode of the ISA's "shfl.sync".
SourceLane source_lane(Shuffle mode, int lane, std::uint32_t b, std::uint32_t c) {
    const int delta = static_cast<int>(b & 31U);
    const int clamp = static_cast<int>(c & 31U);
    const int segment = static_cast<int>(c >> 8U & 31U);
    const int most = (lane & segment) | (clamp & ~segment & 31);
    const int least = lane & segment;
    switch (mode) {
        case Shuffle::up: return {lane - delta, lane - delta >= most};
        case Shuffle::down: return {lane + delta, lane + delta <= most};
        case Shuffle::butterfly: return {lane ^ delta, (lane ^ delta) <= most};
        default: return {least | (delta & ~segment & 31), (least | (delta & ~segment & 31)) <= most};
    }
}

/// values: d, p, a, b, c, members.
void execute_shfl(Warp& warp, const Instruction& instruction, Mask mask) {
    require_members(warp, instruction, mask, instruction.values[5]);
    const Source<std::uint32_t> a(warp, instruction.values[2]);
    const Source<std::uint32_t> b(warp, instruction.values[3]);
    const Source<std::uint32_t> c(warp, instruction.values[4]);
    const auto mode = static_cast<Shuffle>(instruction.immediate);
    std::array<std::uint32_t, kLanes> received{};
    Mask in_range = 0;
    for_lanes(mask, [&](std::size_t lane) {
        const SourceLane from = source_lane(mode, static_cast<int>(lane), b[lane], c[lane]);
        const int source = from.in_range ? from.lane : static_cast<int>(lane);
        if ((mask >> source & 1U) == 0) {
            warp.fail(
                FaultKind::unsupported,
                fmt::format("shfl reads lane {}, which does not execute the shfl: the value is undefined", source),
                static_cast<int>(lane));
        }
        received[lane] = a[static_cast<std::size_t>(source)];
        in_range |= static_cast<Mask>(from.in_range) << lane;
    });
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, received[lane]); });
    warp.set_predicate(instruction.values[1], mask, in_range);
}

void decode_shfl(InstructionDecoder& decoder) {
    if (!decoder.take("sync")) decoder.unsupported("only shfl.sync");
    const std::string mode = decoder.take_any({"up", "down", "bfly", "idx"});
    if (mode.empty() || !decoder.take("b32")) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(5, 5);
    decoder.add(0, OperandType::bits32);
    const int second = decoder.operand(0).second;
    second < 0 ? decoder.add_sink() : decoder.add_predicate(second);
    for (std::size_t i = 1; i < 5; ++i) decoder.add(i, OperandType::bits32);
    decoder.destinations(2);
    decoder.result().immediate = static_cast<std::int64_t>(mode == "up"     ? Shuffle::up
                                                           : mode == "down" ? Shuffle::down
                                                           : mode == "bfly" ? Shuffle::butterfly
                                                                            : Shuffle::index);
    decoder.execute(InstructionKind::warp, execute_shfl);
}

// ---- vote, activemask, elect ----------------------------------------------------------------------------------------

enum class Vote : std::uint8_t { all, any, uni, ballot };

/// values: d, a, members.
void execute_vote(Warp& warp, const Instruction& instruction, Mask mask) {
    require_members(warp, instruction, mask, instruction.values[2]);
    const Mask yes = warp.predicate(instruction.values[1]) & mask;
    switch (static_cast<Vote>(instruction.immediate)) {
        case Vote::all: return warp.set_predicate(instruction.values[0], mask, yes == mask ? kAllLanes : 0);
        case Vote::any: return warp.set_predicate(instruction.values[0], mask, yes != 0 ? kAllLanes : 0);
        case Vote::uni: return warp.set_predicate(instruction.values[0], mask, yes == mask || yes == 0 ? kAllLanes : 0);
        default: break;
    }
    const Source<std::uint32_t> members(warp, instruction.values[2]);
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, yes & members[lane]); });
}

void decode_vote(InstructionDecoder& decoder) {
    if (!decoder.take("sync")) decoder.unsupported("only vote.sync");
    const std::string mode = decoder.take_any({"all", "any", "uni", "ballot"});
    const bool ballot = mode == "ballot";
    if (mode.empty() || !decoder.take(ballot ? "b32" : "pred")) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(3, 3);
    decoder.add(0, ballot ? OperandType::bits32 : OperandType::predicate);
    decoder.add(1, OperandType::predicate);
    decoder.add(2, OperandType::bits32);
    decoder.destinations(1);
    decoder.result().immediate = static_cast<std::int64_t>(mode == "all"   ? Vote::all
                                                           : mode == "any" ? Vote::any
                                                           : mode == "uni" ? Vote::uni
                                                                           : Vote::ballot);
    decoder.execute(InstructionKind::warp, execute_vote);
}

void execute_activemask(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, mask); });
}

void decode_activemask(InstructionDecoder& decoder) {
    if (!decoder.take("b32")) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(1, 1);
    decoder.add(0, OperandType::bits32);
    decoder.destinations(1);
    decoder.execute(InstructionKind::warp, execute_activemask);
}

/// values: d, p, members. The lowest member is the one elected.
void execute_elect(Warp& warp, const Instruction& instruction, Mask mask) {
    require_members(warp, instruction, mask, instruction.values[2]);
    const auto leader = static_cast<std::uint32_t>(std::countr_zero(mask));
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, leader); });
    warp.set_predicate(instruction.values[1], mask, Mask{1} << leader);
}

void decode_elect(InstructionDecoder& decoder) {
    if (!decoder.take("sync")) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(2, 2);
    decoder.add(0, OperandType::bits32);
    const int second = decoder.operand(0).second;
    second < 0 ? decoder.add_sink() : decoder.add_predicate(second);
    decoder.add(1, OperandType::bits32);
    decoder.destinations(2);
    decoder.execute(InstructionKind::warp, execute_elect);
}

// ---- redux and match ------------------------------------------------------------------------------------------------

constexpr auto kAdd = [](auto a, auto b) {
    return static_cast<decltype(a)>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
};
constexpr auto kMin = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto kMax = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kAnd = [](std::uint32_t a, std::uint32_t b) { return a & b; };
constexpr auto kOr = [](std::uint32_t a, std::uint32_t b) { return a | b; };
constexpr auto kXor = [](std::uint32_t a, std::uint32_t b) { return a ^ b; };

/// values: d, a, members.
template <auto kFunction, typename T>
void execute_redux(Warp& warp, const Instruction& instruction, Mask mask) {
    require_members(warp, instruction, mask, instruction.values[2]);
    const Source<T> a(warp, instruction.values[1]);
    T sum = a[static_cast<std::size_t>(std::countr_zero(mask))];
    for_lanes(mask & (mask - 1), [&](std::size_t lane) { sum = kFunction(sum, a[lane]); });
    const Destination<T> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, sum); });
}

struct ReduxRow {
    std::string_view opcode;
    Handler handler;
};

using S32 = std::int32_t;
using U32 = std::uint32_t;
constexpr std::array<ReduxRow, 9> kRedux{{{"redux.sync.add.s32", execute_redux<kAdd, S32>},
                                          {"redux.sync.add.u32", execute_redux<kAdd, U32>},
                                          {"redux.sync.min.s32", execute_redux<kMin, S32>},
                                          {"redux.sync.min.u32", execute_redux<kMin, U32>},
                                          {"redux.sync.max.s32", execute_redux<kMax, S32>},
                                          {"redux.sync.max.u32", execute_redux<kMax, U32>},
                                          {"redux.sync.and.b32", execute_redux<kAnd, U32>},
                                          {"redux.sync.or.b32", execute_redux<kOr, U32>},
                                          {"redux.sync.xor.b32", execute_redux<kXor, U32>}}};

void decode_redux(InstructionDecoder& decoder) {
    const std::string opcode = decoder.source().opcode();
    for (const ReduxRow& row : kRedux) {
        if (row.opcode != opcode) continue;
        decoder.require_operands(3, 3);
        for (std::size_t i = 0; i < 3; ++i) decoder.add(i, OperandType::bits32);
        decoder.destinations(1);
        return decoder.execute(InstructionKind::warp, row.handler);
    }
    decoder.unsupported();
}

/// values: d, p, a, members. .any: lanes with the same value; .all: all of them, or none.
template <typename T>
void execute_match(Warp& warp, const Instruction& instruction, Mask mask) {
    require_members(warp, instruction, mask, instruction.values[3]);
    const bool all = instruction.immediate != 0;
    const Source<T> a(warp, instruction.values[2]);
    std::array<Mask, kLanes> same{};
    for_lanes(mask, [&](std::size_t lane) {
        for_lanes(mask, [&](std::size_t other) { same[lane] |= static_cast<Mask>(a[lane] == a[other]) << other; });
    });
    const bool uniform = same[static_cast<std::size_t>(std::countr_zero(mask))] == mask;
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, !all ? same[lane] : uniform ? mask : 0); });
    warp.set_predicate(instruction.values[1], mask, uniform ? kAllLanes : 0);
}

void decode_match(InstructionDecoder& decoder) {
    const bool all = decoder.take("all");
    if (!all && !decoder.take("any")) decoder.unsupported();
    const std::string type = decoder.take_any({"b32", "b64"});
    if (!decoder.take("sync") || type.empty()) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(3, 3);
    decoder.add(0, OperandType::bits32);
    const int second = decoder.operand(0).second;
    second < 0 ? decoder.add_sink() : decoder.add_predicate(second);
    decoder.add(1, type == "b64" ? OperandType::bits64 : OperandType::bits32);
    decoder.add(2, OperandType::bits32);
    decoder.destinations(2);
    decoder.result().immediate = all ? 1 : 0;
    decoder.execute(InstructionKind::warp, type == "b64" ? execute_match<std::uint64_t> : execute_match<std::uint32_t>);
}

/// bar.warp.sync: lanes of the mask meet; here they must already be together.
void execute_warp_barrier(Warp& warp, const Instruction& instruction, Mask mask) {
    if (warp.launch().config.checks.barriers) require_members(warp, instruction, mask, instruction.values[0]);
}

}  // namespace

void decode_warp_barrier(InstructionDecoder& decoder) {
    decoder.finish_modifiers();
    decoder.require_operands(1, 1);
    decoder.add(0, OperandType::bits32);
    decoder.execute(InstructionKind::warp, execute_warp_barrier);
}

std::vector<DecoderRow> warp_decoders() {
    return {{"shfl", decode_shfl},   {"vote", decode_vote},   {"activemask", decode_activemask},
            {"elect", decode_elect}, {"redux", decode_redux}, {"match", decode_match}};
}

}  // namespace jitgemm::emulator
