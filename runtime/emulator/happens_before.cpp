#include "runtime/emulator/happens_before.hpp"

#include <algorithm>

namespace jitgemm::emulator {
namespace {

void learn(std::uint32_t* known, const std::uint32_t* more, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) known[i] = std::max(known[i], more[i]);
}

}  // namespace

void HappensBefore::join(int first, std::uint32_t waiting, const std::array<std::uint32_t, kMaxWarps>& arrived) {
    // Those who wait do nothing in between: all they did is before now. Those who only arrived went on.
    const std::uint32_t time = ++now_;
    std::fill(joined_.begin(), joined_.end(), 0);
    for (std::size_t warp = 0; warp < kMaxWarps; ++warp) {
        const bool waits = (waiting >> warp & 1U) != 0;
        if (!waits && arrived[warp] == 0) continue;
        const std::size_t number = index(first) + warp;
        learn(joined_.data(), row(number), joined_.size());
        joined_[number] = std::max(joined_[number], waits ? time : arrived[warp]);
    }
    for (std::size_t warp = 0; warp < kMaxWarps; ++warp) {
        if ((waiting >> warp & 1U) != 0) std::copy(joined_.begin(), joined_.end(), row(index(first) + warp));
    }
}

void HappensBefore::give(int warp, Clock& clock) {
    clock.resize(joined_.size());
    learn(clock.data(), row(index(warp)), clock.size());
    clock[index(warp)] = tick();
}

void HappensBefore::take(int warp, const Clock& clock) { learn(row(index(warp)), clock.data(), clock.size()); }

void HappensBefore::add(const Clock& earlier, Clock& clock) {
    clock.resize(std::max(clock.size(), earlier.size()));
    learn(clock.data(), earlier.data(), earlier.size());
}

void HappensBefore::fence_proxy(int warp) {
    std::uint32_t* known = row(index(warp));
    learn(known + warps_, known, warps_);
    known[warps_ + index(warp)] = tick();
}

// Of its own writes nothing but the agent's time is needed: they are made in the asynchronous proxy.
void HappensBefore::give_agent(int agent, Clock& clock) {
    clock.resize(joined_.size());
    clock[index(agent)] = clock[warps_ + index(agent)] = tick();
}

}  // namespace jitgemm::emulator
