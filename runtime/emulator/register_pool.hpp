#pragma once

#include <algorithm>
#include <vector>

namespace jitgemm::emulator {

/// The registers per thread of a block's warps, which setmaxnreg moves between warps. A launch gives each thread 65536
/// over the threads of the block, rounded down to eight, and at most 256 (tried on an H200).
class RegisterPool {
public:
    explicit RegisterPool(int warps, int threads) : own_(static_cast<std::size_t>(warps), at_launch(threads)) {}

    [[nodiscard]] int of(int warp) const { return own_[static_cast<std::size_t>(warp)]; }
    void give_up(int warp, int registers) {
        free_ += of(warp) - registers;
        own_[static_cast<std::size_t>(warp)] = registers;
    }
    /// False if there are not enough yet.
    [[nodiscard]] bool take(int warp, int registers) {
        const int more = registers - of(warp);
        if (more > free_) return false;
        give_up(warp, registers);
        return true;
    }

private:
    static int at_launch(int threads) {
        constexpr int kRegisters = 65536;
        return std::min(kRegisters / std::max(threads, 1) / 8 * 8, 256);
    }
    std::vector<int> own_;
    int free_ = 0;
};

}  // namespace jitgemm::emulator
