#pragma once

#include "runtime/emulator/checks.hpp"
#include "runtime/emulator/program.hpp"
#include "runtime/emulator/shared_memory.hpp"

#include <array>
#include <cstdint>
#include <deque>

namespace jitgemm::emulator {

/// One cp.async of a warp. Each lane of `mask` copies `bytes` to shared memory: the first source_bytes come from
/// `source`, and the rest are zeros.
struct AsyncCopy {
    Mask mask = 0;
    std::uint32_t bytes = 0;
    std::array<std::uint32_t, kLanes> destination{};
    std::array<std::uint32_t, kLanes> source_bytes{};
    std::array<const std::byte*, kLanes> source{};
    Accessor who;
};

/// Copies that a warp has issued and not waited for, in groups counted for each lane. In `late` mode data lands when a
/// wait of the issuing lane forces it; in `eager` mode at issue. The bytes are in flight until the wait in both.
class AsyncCopies {
public:
    AsyncCopies(SharedMemory& shared, AsyncMode mode) : shared_(shared), mode_(mode) {}

    void issue(const AsyncCopy& copy);
    void commit(Mask mask);
    /// cp.async.wait_group: all but the newest `pending` groups of these lanes become complete.
    void wait_group(Mask mask, std::uint32_t pending);
    /// cp.async.wait_all, which is also the effect of a thread's end.
    void wait_all(Mask mask);

private:
    struct Pending {
        AsyncCopy copy;
        std::array<std::uint32_t, kLanes> group{};
    };
    void move(const AsyncCopy& copy, int lane);
    void finish(Pending& pending, Mask lanes);
    void drop_finished();

    SharedMemory& shared_;
    AsyncMode mode_;
    std::deque<Pending> pending_;
    std::array<std::uint32_t, kLanes> committed_{};  ///< groups that a lane has closed
};

}  // namespace jitgemm::emulator
