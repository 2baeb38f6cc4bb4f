#include "runtime/emulator/warpgroup_steps.hpp"

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/fault.hpp"
#include "runtime/emulator/warp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::emulator {
namespace {

std::size_t place_in_group(const Warp& warp) { return static_cast<std::size_t>(warp.index() % WarpgroupSteps::kWarps); }

std::string place_of(const Warp& warp, const WarpgroupSteps::Step& step) {
    const Program& program = warp.launch().program;
    return program.place(program.code()[step.site]);
}

/// Names the first value in which two unequal steps differ.
std::string difference(const Warp& warp, const WarpgroupSteps::Step& step, const WarpgroupSteps::Step& other) {
    if (step.site != other.site) return "another warp of the warpgroup has executed " + place_of(warp, other);
    if (step.adds != other.adds) return "another warp of the warpgroup has another scale-d";
    const bool is_a = step.a != other.a;
    return fmt::format("{}'s descriptor is {:#018x}, another warp of the warpgroup has {:#018x}", is_a ? "A" : "B",
                       is_a ? step.a : step.b, is_a ? other.a : other.b);
}

}  // namespace

void require_warpgroup(const Warp& warp, Mask mask, const char* what) {
    warp.require_converged(mask, what);
    const auto warps = static_cast<int>(warp.block().warps().size());
    if (warp.index() / WarpgroupSteps::kWarps * WarpgroupSteps::kWarps + WarpgroupSteps::kWarps <= warps) return;
    warp.fail(FaultKind::barrier_divergence,
              fmt::format("{} by warp {} of {}, which is of no warpgroup of four", what, warp.index(), warps));
}

WarpgroupSteps::Group& WarpgroupSteps::group_of(const Warp& warp) {
    return groups_[static_cast<std::size_t>(warp.index() / kWarps)];
}

void WarpgroupSteps::require_alive(const Warp& warp, const Group& group) {
    const auto ended = std::ranges::find(group.ended, true);
    if (ended == group.ended.end()) return;
    throw AccessFault{FaultKind::barrier_divergence,
                      fmt::format("a warpgroup's instruction without warp {}, which has ended",
                                  warp.index() / kWarps * kWarps + static_cast<int>(ended - group.ended.begin()))};
}

void WarpgroupSteps::take(const Warp& warp, const Step& step) {
    if (!warp.launch().config.checks.barriers) return;
    Group& group = group_of(warp);
    const std::uint64_t number = group.taken[place_in_group(warp)]++ - group.first;
    if (number < group.steps.size()) {
        if (group.steps[number] != step)
            throw AccessFault{FaultKind::barrier_divergence,
                              "the four warps of a warpgroup must execute it together: " +
                                  difference(warp, step, group.steps[number])};
    } else {
        require_alive(warp, group);
        group.steps.push_back(step);
    }
    if (std::ranges::min(group.taken) == group.first) return;
    group.steps.pop_front();
    ++group.first;
}

void WarpgroupSteps::warp_ended(const Warp& warp) {
    Group& group = group_of(warp);
    const std::uint64_t taken = group.taken[place_in_group(warp)];
    group.ended[place_in_group(warp)] = true;
    if (taken == std::ranges::max(group.taken)) return;
    throw AccessFault{FaultKind::barrier_divergence, "a warp ends where another of its warpgroup has executed " +
                                                         place_of(warp, group.steps[taken - group.first])};
}

}  // namespace jitgemm::emulator
