#include "runtime/emulator/barriers.hpp"

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace jitgemm::emulator {

void Barriers::check(int barrier, int threads, const Arrival& arrival) const {
    const State& state = states_.at(static_cast<std::size_t>(barrier));
    if (!block_.launch().config.checks.barriers) return;
    if (arrival.mask != arrival.warp->live()) {
        throw AccessFault{
            FaultKind::barrier_divergence,
            fmt::format("barrier {} is reached by lanes {:#010x} only; lanes {:#010x} of the warp are elsewhere",
                        barrier, arrival.mask, arrival.warp->live() & ~arrival.mask)};
    }
    if (threads != kEveryone &&
        (threads % kLanes != 0 || threads < 0 || threads > (block_.threads() + kLanes - 1) / kLanes * kLanes)) {
        throw AccessFault{
            FaultKind::barrier_count,
            fmt::format("barrier {} is for {} threads: the count must be a multiple of {}, at most the block's {}",
                        barrier, threads, kLanes, block_.threads())};
    }
    if (state.threads >= 0 && state.threads != threads) {
        throw AccessFault{
            FaultKind::barrier_count,
            fmt::format("barrier {} is for {} threads here, but other warps wait at it for {} (0: all)\n{}", barrier,
                        threads, state.threads, describe(barrier, state))};
    }
    for (const Arrival& earlier : state.arrivals) {
        if (earlier.warp != arrival.warp) continue;
        throw AccessFault{FaultKind::barrier_count,
                          fmt::format("the warp reaches barrier {} again before it is complete\n{}", barrier,
                                      describe(barrier, state))};
    }
}

void Barriers::arrive(int barrier, int threads, const Arrival& arrival) {
    if (barrier < 0 || barrier >= kBarriers) {
        throw AccessFault{FaultKind::barrier_count,
                          fmt::format("there is no barrier {}: their numbers are 0 to 15", barrier)};
    }
    check(barrier, threads, arrival);
    State& state = states_[static_cast<std::size_t>(barrier)];
    state.threads = threads;
    state.arrivals.push_back(arrival);
    if (arrival.waits) {
        arrival.warp->wait();
    } else {
        state.arrived[static_cast<std::size_t>(arrival.warp->index())] = block_.cluster().order().tick();
    }
    if (complete(state)) release(state);
}

bool Barriers::complete(const State& state) const {
    if (state.threads < 0) return false;
    const auto warps = static_cast<int>(state.arrivals.size());
    if (state.threads != kEveryone) return warps * kLanes >= state.threads;
    const auto alive = std::count_if(block_.warps().begin(), block_.warps().end(),
                                     [&](const auto& warp) { return warp->state() != Warp::State::finished; });
    const auto ended_since = std::count_if(state.arrivals.begin(), state.arrivals.end(), [](const Arrival& arrival) {
        return arrival.warp->state() == Warp::State::finished;
    });
    return warps - ended_since >= alive;
}

void Barriers::warp_ended() {
    for (State& state : states_) {
        if (state.threads == kEveryone && complete(state)) release(state);
    }
}

void Barriers::release(State& state) {
    std::uint32_t waiting = 0;
    std::uint32_t count_true = 0;
    std::uint32_t count_all = 0;
    for (const Arrival& arrival : state.arrivals) {
        if (arrival.waits) waiting |= 1U << static_cast<unsigned>(arrival.warp->index());
        count_true += static_cast<std::uint32_t>(std::popcount(arrival.predicate & arrival.mask));
        count_all += static_cast<std::uint32_t>(std::popcount(arrival.mask));
    }
    block_.cluster().order().join(block_.first_warp(), waiting, state.arrived);
    const std::vector<Arrival> arrivals = std::move(state.arrivals);
    state = State{};
    for (const Arrival& arrival : arrivals) {
        if (!arrival.waits) continue;
        deliver_reduction(*arrival.warp, *arrival.instruction, arrival.mask, count_true, count_all);
        arrival.warp->resume();
    }
}

std::string Barriers::describe(int barrier, const State& state) const {
    const std::string wanted = state.threads == kEveryone ? "all" : fmt::format("{}", state.threads);
    std::string text = fmt::format("  barrier {}: {} of {} threads have come", barrier,
                                   static_cast<int>(state.arrivals.size()) * kLanes, wanted);
    for (const Arrival& arrival : state.arrivals) {
        text += fmt::format("\n    warp {} {} at {}", arrival.warp->index(), arrival.waits ? "waits" : "arrived",
                            block_.launch().program.place(*arrival.instruction));
    }
    return text;
}

std::string Barriers::describe() const {
    std::string text;
    for (int barrier = 0; barrier < kBarriers; ++barrier) {
        const State& state = states_[static_cast<std::size_t>(barrier)];
        if (state.threads >= 0) text += (text.empty() ? "" : "\n") + describe(barrier, state);
    }
    return text;
}

}  // namespace jitgemm::emulator
