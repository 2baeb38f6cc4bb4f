#include "runtime/emulator/cluster_barrier.hpp"

#include "runtime/emulator/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::emulator {
namespace {

bool has_ended(const Warp& warp) { return warp.state() == Warp::State::finished; }

}  // namespace

ClusterBarrier::Member& ClusterBarrier::member_of(const Warp& warp) {
    if (members_.empty()) {
        for (const auto& block : cluster_.blocks()) {
            for (const auto& own : block->warps()) members_.push_back({.warp = own.get()});
        }
    }
    const int before = warp.block().rank() * cluster_.launch().warps_per_block();
    return members_[static_cast<std::size_t>(before) + static_cast<std::size_t>(warp.index())];
}

void ClusterBarrier::require_whole_warp(const Warp& warp, Mask mask) const {
    if (!cluster_.launch().config.checks.barriers || mask == warp.live()) return;
    throw AccessFault{
        FaultKind::barrier_divergence,
        fmt::format("the cluster barrier is reached by lanes {:#010x} only; lanes {:#010x} of the warp are elsewhere",
                    mask, warp.live() & ~mask)};
}

void ClusterBarrier::arrive(Warp& warp, const Instruction& instruction, Mask mask, bool releases) {
    require_whole_warp(warp, mask);
    Member& member = member_of(warp);
    if (member.stage != Stage::away) {
        throw AccessFault{FaultKind::barrier_order,
                          fmt::format("the warp arrives at the cluster barrier twice with no barrier.cluster.wait "
                                      "between; it arrived at {}",
                                      cluster_.launch().program.place(*member.instruction))};
    }
    member.stage = Stage::arrived;
    member.instruction = &instruction;
    if (releases) cluster_.order().give(warp.number(), gathering_);
    complete_if_all_arrived();
}

void ClusterBarrier::wait(Warp& warp, const Instruction& instruction, Mask mask) {
    require_whole_warp(warp, mask);
    Member& member = member_of(warp);
    if (member.stage == Stage::away) {
        throw AccessFault{FaultKind::barrier_order,
                          "the warp waits at the cluster barrier without a barrier.cluster.arrive before"};
    }
    member.instruction = &instruction;
    if (member.stage == Stage::passed) return pass(member);
    member.waits = true;
    warp.wait();
}

void ClusterBarrier::pass(Member& member) {
    cluster_.order().take(member.warp->number(), handed_over_);
    member.stage = Stage::away;
    member.waits = false;
    member.seen = completions_;
}

void ClusterBarrier::complete_if_all_arrived() {
    const bool all = std::ranges::all_of(
        members_, [](const Member& member) { return has_ended(*member.warp) || member.stage == Stage::arrived; });
    if (!all) return;
    handed_over_ = std::exchange(gathering_, {});
    ++completions_;
    for (Member& member : members_) {
        if (has_ended(*member.warp)) continue;
        member.stage = Stage::passed;
        if (!member.waits) continue;
        pass(member);
        member.warp->resume();
    }
}

void ClusterBarrier::warp_ended() {
    if (!members_.empty()) complete_if_all_arrived();
}

std::uint64_t ClusterBarrier::next_completion(const Warp& warp) {
    return completions_ + (member_of(warp).stage == Stage::arrived ? 2 : 1);
}

bool ClusterBarrier::has_waited_for(const Warp& warp, std::uint64_t completion) {
    return member_of(warp).seen >= completion;
}

std::string ClusterBarrier::describe() const {
    std::string who;
    int arrived = 0;
    for (const Member& member : members_) {
        if (member.stage != Stage::arrived || has_ended(*member.warp)) continue;
        ++arrived;
        who += fmt::format("\n    {} {} at {}", cluster_.name_of_warp(member.warp->number()),
                           member.waits ? "waits" : "arrived", cluster_.launch().program.place(*member.instruction));
    }
    if (arrived == 0) return {};
    const auto alive = std::ranges::count_if(members_, [](const Member& member) { return !has_ended(*member.warp); });
    return fmt::format("  cluster barrier: {} of {} warps have come{}", arrived, alive, who);
}

}  // namespace jitgemm::emulator
