#include "runtime/emulator/global_order.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm::emulator {
namespace {

void learn_clock(LaunchClock& clock, const LaunchClock& more) {
    for (const auto& [warp, time] : more) {
        std::uint32_t& known = clock[warp];
        known = std::max(known, time);
    }
}

}  // namespace

// ---- words ----------------------------------------------------------------------------------------------------------

StrongWord* StrongWords::find(DeviceAddress address) {
    const auto found = words_.find(address);
    return found == words_.end() ? nullptr : &found->second;
}

// ---- what warps know ------------------------------------------------------------------------------------------------

bool GlobalOrder::ordered(int warp, std::uint32_t writer, std::uint32_t time) const {
    if (is_own(writer)) return order_.ordered(warp, static_cast<int>(writer - first_), time);
    return std::ranges::any_of(acquired_, [&](const Acquired& acquired) {
        const auto known = acquired.clock.find(writer);
        return known != acquired.clock.end() && time < known->second && knows(warp, acquired.warp, acquired.time);
    });
}

LaunchClock GlobalOrder::known_to(int warp) {
    LaunchClock clock;
    for (const Acquired& acquired : acquired_) {
        if (knows(warp, acquired.warp, acquired.time)) learn_clock(clock, acquired.clock);
    }
    HappensBefore::Clock own;
    order_.give(warp, own);
    for (std::uint32_t other = 0; other < agents_; ++other) {
        if (own[other] != 0) clock[first_ + other] = own[other];
    }
    return clock;
}

void GlobalOrder::take(int warp, const LaunchClock& clock) {
    const bool is_known = std::ranges::all_of(
        clock, [&](const auto& entry) { return is_own(entry.first) || ordered(warp, entry.first, entry.second - 1); });
    if (!is_known) acquired_.push_back({warp, order_.now(), clock});
}

/// Empty where the write releases nothing.
LaunchClock GlobalOrder::released_by(int warp, const MemoryOrder& how) {
    if (!how.wide) return {};
    if (how.releases) return known_to(warp);
    LaunchClock clock;
    for (const auto& [fencer, fence] : fences_) {
        if (fence.time != 0 && knows(warp, fencer, fence.time)) learn_clock(clock, fence.clock);
    }
    return clock;
}

// ---- accesses -------------------------------------------------------------------------------------------------------

const std::uint64_t* GlobalOrder::load(int warp, DeviceAddress address, const MemoryOrder& how) {
    StrongWord* word = words_.find(address);
    if (word == nullptr) return nullptr;
    if (!is_own(word->writer) && !ordered(warp, word->writer, word->time) && word->told.insert(first_).second)
        return &word->before;
    acquire(warp, address, how);
    return nullptr;
}

void GlobalOrder::acquire(int warp, DeviceAddress address, const MemoryOrder& how) {
    const StrongWord* word = words_.find(address);
    if (word == nullptr || !how.wide || word->released.empty()) return;
    how.acquires ? take(warp, word->released) : learn_clock(fences_[warp].read, word->released);
}

void GlobalOrder::note_writer(int warp, StrongWord& word, std::uint64_t before) {
    word.writer = number_in_launch(warp);
    word.time = order_.now();
    word.before = before;
    word.told.clear();
}

void GlobalOrder::store(int warp, DeviceAddress address, const MemoryOrder& how, std::uint64_t before) {
    StrongWord& word = words_.at(address);
    note_writer(warp, word, before);
    word.released = released_by(warp, how);
}

void GlobalOrder::update(int warp, DeviceAddress address, const MemoryOrder& how, std::uint64_t before) {
    StrongWord& word = words_.at(address);
    note_writer(warp, word, before);
    learn_clock(word.released, released_by(warp, how));
}

void GlobalOrder::fence(int warp) {
    Fence& fence = fences_[warp];
    take(warp, std::exchange(fence.read, {}));
    fence.clock = known_to(warp);
    fence.time = order_.now();
}

}  // namespace jitgemm::emulator
