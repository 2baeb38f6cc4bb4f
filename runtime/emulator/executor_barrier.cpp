// bar, barrier, membar, fence and griddepcontrol.

#include "runtime/emulator/cluster.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"

#include <bit>

namespace jitgemm::emulator {

void decode_warp_barrier(InstructionDecoder& decoder);     // in executor_warp.cpp
void decode_cluster_barrier(InstructionDecoder& decoder);  // in executor_cluster.cpp

namespace {

enum class Reduction : std::uint8_t { none, count, all, any };

struct BarrierDetail {
    bool waits = true;
    bool counted = false;
    Reduction reduction = Reduction::none;
};

/// values: the result of bar.red (else a sink), barrier, count where `counted`, predicate of bar.red.
void execute_barrier(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto& detail = instruction.detail<BarrierDetail>();
    const auto first = static_cast<std::size_t>(std::countr_zero(mask));
    const auto barrier = static_cast<int>(warp.words(instruction.values[1])[first]);
    const int threads =
        detail.counted ? static_cast<int>(warp.words(instruction.values[2])[first]) : Barriers::kEveryone;
    const bool reduces = detail.reduction != Reduction::none;
    const Mask predicate = reduces ? warp.predicate(instruction.values.back()) & mask : 0;
    if (detail.counted && threads == 0) throw AccessFault{FaultKind::barrier_count, "a barrier for 0 threads"};
    warp.block().barriers().arrive(
        barrier, threads,
        {.warp = &warp, .instruction = &instruction, .mask = mask, .predicate = predicate, .waits = detail.waits});
}

Reduction take_reduction(InstructionDecoder& decoder) {
    const std::string operation = decoder.take_any({"popc", "and", "or"});
    if (operation.empty() || !decoder.take(operation == "popc" ? "u32" : "pred")) decoder.unsupported();
    return operation == "popc" ? Reduction::count : operation == "and" ? Reduction::all : Reduction::any;
}

/// bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, p. A barrier.… without .aligned may be executed by part of a
/// warp; here it needs a whole one like the others, which the check of divergence says.
void decode_barrier(InstructionDecoder& decoder) {
    if (decoder.source().name == "barrier" && decoder.take("cluster")) return decode_cluster_barrier(decoder);
    decoder.take("cta");
    if (decoder.source().name == "bar" && decoder.take("warp")) {
        if (!decoder.take("sync")) decoder.unsupported();
        return decode_warp_barrier(decoder);
    }
    const std::string verb = decoder.take_any({"sync", "arrive", "red"});
    decoder.take("aligned");
    if (verb.empty()) decoder.unsupported();
    BarrierDetail detail;
    detail.waits = verb != "arrive";
    if (verb == "red") detail.reduction = take_reduction(decoder);
    decoder.finish_modifiers();
    const bool reduces = verb == "red";
    const std::size_t least = reduces ? 3 : verb == "arrive" ? 2 : 1;
    decoder.require_operands(least, reduces ? 4 : 2);
    detail.counted = decoder.operands() == (reduces ? 4U : 2U);
    const OperandType result = detail.reduction == Reduction::count ? OperandType::bits32 : OperandType::predicate;
    reduces ? decoder.add(0, result) : decoder.add_sink();
    const std::size_t barrier = reduces ? 1 : 0;
    decoder.add(barrier, OperandType::bits32);
    if (detail.counted) decoder.add(barrier + 1, OperandType::bits32);
    if (reduces) decoder.add(decoder.operands() - 1, OperandType::predicate);
    decoder.destinations(1);
    decoder.detail(detail);
    decoder.execute(InstructionKind::barrier, execute_barrier);
}

void execute_nothing(Warp& /*warp*/, const Instruction& /*instruction*/, Mask /*mask*/) {}

void execute_proxy_fence(Warp& warp, const Instruction& /*instruction*/, Mask /*mask*/) {
    warp.block().cluster().order().fence_proxy(warp.number());
}

void execute_mbarrier_fence(Warp& warp, const Instruction& /*instruction*/, Mask /*mask*/) {
    warp.block().mbarriers().fence_init(warp);
}

/// fence.proxy.async{.space}, fence.mbarrier_init.release.cluster. What is in global memory is always visible.
void decode_special_fence(InstructionDecoder& decoder, bool proxy) {
    const std::string space = decoder.take_any({"global", "shared::cta", "shared::cluster"});
    const bool known = proxy ? decoder.take("async") : decoder.take("release") && decoder.take("cluster");
    if (!known || (!proxy && !space.empty())) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(0, 0);
    decoder.require_cluster_target();
    const Handler fence = space == "global" ? execute_nothing : execute_proxy_fence;
    decoder.execute(InstructionKind::barrier, proxy ? fence : execute_mbarrier_fence);
}

void execute_wide_fence(Warp& warp, const Instruction& /*instruction*/, Mask /*mask*/) {
    if (!warp.launch().config.checks.races) return;
    warp.block().cluster().global_order().fence(warp.number());
}

/// Memory is in order here: any other fence only tells what is ordered, and for that other clusters matter alone.
void decode_fence(InstructionDecoder& decoder) {
    const std::string special = decoder.take_any({"proxy", "mbarrier_init"});
    if (!special.empty()) return decode_special_fence(decoder, special == "proxy");
    decoder.take_any({"sc", "acq_rel", "acquire", "release"});
    const std::string scope = decoder.take_any({"cta", "cluster", "gpu", "gl", "sys"});
    if (scope.empty()) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(0, 0);
    const bool wide = scope != "cta" && scope != "cluster";
    decoder.execute(InstructionKind::barrier, wide ? execute_wide_fence : execute_nothing);
}

void execute_wait_on_grids(Warp& warp, const Instruction& /*instruction*/, Mask /*mask*/) { warp.wait_on_grids(); }

/// griddepcontrol.wait, .launch_dependents: launches come one after the other here, and nothing is left to wait for.
/// But what a GPU might not have waited for yet is out of bounds before.
void decode_grid_dependency(InstructionDecoder& decoder) {
    const std::string verb = decoder.take_any({"wait", "launch_dependents"});
    if (verb.empty()) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(0, 0);
    decoder.execute(InstructionKind::barrier, verb == "wait" ? execute_wait_on_grids : execute_nothing);
}

}  // namespace

void deliver_reduction(Warp& warp, const Instruction& instruction, Mask mask, std::uint32_t count_true,
                       std::uint32_t count_all) {
    switch (instruction.detail<BarrierDetail>().reduction) {
        case Reduction::none: return;
        case Reduction::all:
            return warp.set_predicate(instruction.values[0], mask, count_true == count_all ? kAllLanes : 0);
        case Reduction::any: return warp.set_predicate(instruction.values[0], mask, count_true > 0 ? kAllLanes : 0);
        case Reduction::count: break;
    }
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, count_true); });
}

std::vector<DecoderRow> barrier_decoders() {
    return {{"bar", decode_barrier},
            {"barrier", decode_barrier},
            {"membar", decode_fence},
            {"fence", decode_fence},
            {"griddepcontrol", decode_grid_dependency}};
}

}  // namespace jitgemm::emulator
