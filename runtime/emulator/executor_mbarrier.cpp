// mbarrier.

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {
namespace {

struct MbarrierDetail {
    ptx::StateSpace space = ptx::StateSpace::generic;
    bool ordered = true;       ///< not .relaxed: an arrival releases, a wait acquires
    bool expects = false;      ///< of an arrival: operand 2 is bytes it expects, not a count
    bool parity = false;       ///< of a wait: operand 2 is one, not a state
    bool may_suspend = false;  ///< .try_wait
    bool own_only = false;     ///< no other block's
    int sign = 1;              ///< of expect_tx; -1: complete_tx
};

/// Calls `function(lane, mbarriers, offset)` for each lane.
void for_places(Warp& warp, const Instruction& instruction, Mask mask, const auto& function) {
    const auto& detail = instruction.detail<MbarrierDetail>();
    const LaneAddresses addresses = lane_addresses(warp, instruction, 1);
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        const SharedPlace place = shared_place(warp, detail.space, addresses[lane], Access::atomic);
        if (detail.own_only && place.block != &warp.block()) {
            throw AccessFault{FaultKind::mbarrier, "an mbarrier of another block: only arrivals at it are allowed"};
        }
        function(lane, place.block->mbarriers(), place.offset);
    });
    warp.at_lane(-1);
}

Accessor accessor(const Warp& warp, const Instruction& instruction) { return {warp.number(), instruction.index}; }

// values of all: the result or a sink, the address, what comes behind it.

void execute_init(Warp& warp, const Instruction& instruction, Mask mask) {
    const Source<std::uint32_t> arrivals(warp, instruction.values[2]);
    for_places(warp, instruction, mask, [&](std::size_t lane, Mbarriers& mbarriers, std::uint32_t offset) {
        mbarriers.init(accessor(warp, instruction), offset, arrivals[lane]);
    });
}

void execute_inval(Warp& warp, const Instruction& instruction, Mask mask) {
    for_places(warp, instruction, mask, [&](std::size_t /*lane*/, Mbarriers& mbarriers, std::uint32_t offset) {
        mbarriers.invalidate(accessor(warp, instruction), offset);
    });
}

void execute_expect(Warp& warp, const Instruction& instruction, Mask mask) {
    const Source<std::int32_t> bytes(warp, instruction.values[2]);
    const int sign = instruction.detail<MbarrierDetail>().sign;
    for_places(warp, instruction, mask, [&](std::size_t lane, Mbarriers& mbarriers, std::uint32_t offset) {
        mbarriers.expect(accessor(warp, instruction), offset, sign * std::int64_t{bytes[lane]});
    });
}

void execute_arrive(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto& detail = instruction.detail<MbarrierDetail>();
    const Destination<std::uint64_t> state(warp, instruction.values[0]);
    const Source<std::int32_t> behind(warp, instruction.values[2]);
    const Accessor who = accessor(warp, instruction);
    for_places(warp, instruction, mask, [&](std::size_t lane, Mbarriers& mbarriers, std::uint32_t offset) {
        if (detail.expects) mbarriers.expect(who, offset, behind[lane]);
        state.set(lane, mbarriers.arrive(who, offset, detail.expects ? 1 : behind[lane], detail.ordered));
    });
}

/// A warp that waits in vain runs again when a phase is complete: a GPU may suspend a try_wait so long, and may execute
/// a test_wait as late. Only where a loop asks for nothing else: the first answer of a try_wait, whose time may be
/// over, is no, so that a kernel that does not ask again is found; a test_wait may be asked between other work.
void wait_for_phase(Warp& warp, const Instruction& instruction, Mask mask) {
    for_places(warp, instruction, mask, [&](std::size_t /*lane*/, Mbarriers& mbarriers, std::uint32_t offset) {
        mbarriers.add_waiter(warp, offset);
    });
    warp.wait_and_retry(mask);
}

void execute_wait(Warp& warp, const Instruction& instruction, Mask mask) {
    constexpr int kAnsweredTries = 1;
    constexpr int kAnsweredTests = 1000;
    const auto& detail = instruction.detail<MbarrierDetail>();
    const auto query_of = [&](std::size_t lane) -> PhaseQuery {
        if (detail.parity) return {true, warp.words(instruction.values[2])[lane]};
        return {false, warp.doublewords(instruction.values[2])[lane]};
    };
    Mask complete = 0;
    for_places(warp, instruction, mask, [&](std::size_t lane, Mbarriers& mbarriers, std::uint32_t offset) {
        const bool done = mbarriers.is_complete(accessor(warp, instruction), offset, query_of(lane), detail.ordered);
        complete |= static_cast<Mask>(done) << lane;
    });
    warp.set_predicate(instruction.values[0], mask, complete);
    if (complete != 0) {
        warp.failed_tests() = 0;
    } else if (++warp.failed_tests() > (detail.may_suspend ? kAnsweredTries : kAnsweredTests)) {
        wait_for_phase(warp, instruction, mask);
    }
}

// ---- decoding -------------------------------------------------------------------------------------------------------

/// {.sem}{.scope}{.space}.b64, in any order; only init, inval and waits are for the block's own mbarriers alone.
MbarrierDetail take_mbarrier_modifiers(InstructionDecoder& decoder, bool reaches_peers) {
    MbarrierDetail detail;
    detail.own_only = !reaches_peers;
    detail.ordered = !decoder.take("relaxed");
    decoder.take_any({"release", "acquire"});
    decoder.take_any({"cta", "cluster"});
    const std::string space = decoder.take_any({"shared", "shared::cta", "shared::cluster"});
    if (space == "shared::cluster" && !reaches_peers) decoder.unsupported("only the block's own mbarriers");
    if (!space.empty()) {
        detail.space = space == "shared::cluster" ? ptx::StateSpace::cluster : ptx::StateSpace::shared;
    }
    if (!decoder.take("b64")) decoder.unsupported();
    decoder.finish_modifiers();
    return detail;
}

void add_one(InstructionDecoder& decoder) {
    ptx::Operand one;
    one.kind = ptx::OperandKind::integer;
    one.value = 1;
    decoder.add_element(one, OperandType::bits32);
}

void finish_mbarrier(InstructionDecoder& decoder, const MbarrierDetail& detail, Handler handler) {
    decoder.detail(detail);
    decoder.destinations(1);
    decoder.execute(InstructionKind::barrier, handler);
}

/// init [a], count; inval [a]; expect_tx [a], bytes; complete_tx [a], bytes.
void decode_without_result(InstructionDecoder& decoder, const std::string& verb) {
    const bool transaction = verb == "expect_tx" || verb == "complete_tx";
    MbarrierDetail detail = take_mbarrier_modifiers(decoder, transaction);
    detail.sign = verb == "complete_tx" ? -1 : 1;
    const std::size_t operands = verb == "inval" ? 1 : 2;
    decoder.require_operands(operands, operands);
    decoder.add_sink();
    decoder.add_address(0);
    if (operands == 2) decoder.add(1, OperandType::bits32);
    finish_mbarrier(decoder, detail, transaction ? execute_expect : verb == "init" ? execute_init : execute_inval);
}

/// arrive state, [a]{, count}; arrive.expect_tx state, [a], bytes.
void decode_arrive(InstructionDecoder& decoder) {
    const bool expects = decoder.take("expect_tx");
    MbarrierDetail detail = take_mbarrier_modifiers(decoder, true);
    detail.expects = expects;
    decoder.require_operands(expects ? 3 : 2, 3);
    if (detail.space == ptx::StateSpace::cluster && decoder.operand(0).kind != ptx::OperandKind::sink) {
        decoder.unsupported("an arrival at .shared::cluster gives no state");
    }
    decoder.add(0, OperandType::bits64);
    decoder.add_address(1);
    decoder.operands() == 3 ? decoder.add(2, OperandType::bits32) : add_one(decoder);
    finish_mbarrier(decoder, detail, execute_arrive);
}

/// p, [a], state or parity{, nanoseconds to suspend for}.
void decode_wait(InstructionDecoder& decoder, bool may_suspend) {
    const bool parity = decoder.take("parity");
    MbarrierDetail detail = take_mbarrier_modifiers(decoder, false);
    detail.parity = parity;
    detail.may_suspend = may_suspend;
    decoder.require_operands(3, may_suspend ? 4 : 3);
    decoder.add(0, OperandType::predicate);
    decoder.add_address(1);
    decoder.add(2, parity ? OperandType::bits32 : OperandType::bits64);
    finish_mbarrier(decoder, detail, execute_wait);
}

void decode_mbarrier(InstructionDecoder& decoder) {
    const std::string verb = decoder.take_any({"init", "inval", "arrive", "try_wait", "test_wait", "complete_tx"});
    if (verb == "arrive") return decode_arrive(decoder);
    if (verb == "try_wait" || verb == "test_wait") return decode_wait(decoder, verb == "try_wait");
    if (!verb.empty()) return decode_without_result(decoder, verb);
    if (!decoder.take("expect_tx")) decoder.unsupported();
    decode_without_result(decoder, "expect_tx");
}

}  // namespace

std::vector<DecoderRow> mbarrier_decoders() { return {{"mbarrier", decode_mbarrier}}; }

}  // namespace jitgemm::emulator
