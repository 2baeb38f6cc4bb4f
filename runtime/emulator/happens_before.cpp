#include "runtime/emulator/happens_before.hpp"

#include <algorithm>

namespace jitgemm::emulator {

void HappensBefore::join(std::uint32_t waiting, const std::array<std::uint32_t, kMaxWarps>& arrived) {
    // Those who wait do nothing in between: all they did is before now. Those who only arrived went on.
    const std::uint32_t time = ++now_;
    Times joined{};
    for (std::size_t warp = 0; warp < kMaxWarps; ++warp) {
        const bool waits = (waiting >> warp & 1U) != 0;
        if (!waits && arrived[warp] == 0) continue;
        for (std::size_t other = 0; other < kMaxWarps; ++other) {
            joined[other] = std::max(joined[other], known_[warp][other]);
        }
        joined[warp] = std::max(joined[warp], waits ? time : arrived[warp]);
    }
    for (std::size_t warp = 0; warp < kMaxWarps; ++warp) {
        if ((waiting >> warp & 1U) != 0) known_[warp] = joined;
    }
}

}  // namespace jitgemm::emulator
