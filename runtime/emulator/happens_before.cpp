#include "runtime/emulator/happens_before.hpp"

#include <algorithm>

namespace jitgemm::emulator {
namespace {

void learn(std::uint32_t* known, const std::uint32_t* more, std::size_t warps) {
    for (std::size_t warp = 0; warp < warps; ++warp) known[warp] = std::max(known[warp], more[warp]);
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
        learn(joined_.data(), row(number), warps_);
        joined_[number] = std::max(joined_[number], waits ? time : arrived[warp]);
    }
    for (std::size_t warp = 0; warp < kMaxWarps; ++warp) {
        if ((waiting >> warp & 1U) != 0) std::copy(joined_.begin(), joined_.end(), row(index(first) + warp));
    }
}

void HappensBefore::give(int warp, Clock& clock) {
    clock.resize(warps_);
    learn(clock.data(), row(index(warp)), warps_);
    clock[index(warp)] = tick();
}

void HappensBefore::take(int warp, const Clock& clock) { learn(row(index(warp)), clock.data(), clock.size()); }

}  // namespace jitgemm::emulator
