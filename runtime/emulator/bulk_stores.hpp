#pragma once

#include "runtime/emulator/bulk_chunk.hpp"
#include "runtime/emulator/mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitgemm::emulator {

struct LaunchContext;
class SharedMemory;

/// Bulk copies out of shared memory that a warp's threads have issued and not waited for, in groups counted for each
/// lane. In `late` mode they are complete when a wait of the issuing lane forces it; in `eager` mode at issue. They
/// read until the wait in both. A wait for the reads and a wait for the writes have the same effect here.
class BulkStores {
public:
    BulkStores(SharedMemory& shared, const LaunchContext& launch) : shared_(shared), launch_(launch) {}

    // Each throws AccessFault.
    void issue(std::size_t lane, const Accessor& who, BulkChunks chunks);
    void commit(Mask mask);
    /// cp.async.bulk.wait_group: all but the newest `pending` groups of these lanes become complete.
    void wait_group(Mask mask, std::uint32_t pending);
    /// Threads end. Throws if one of their stores may still be reading.
    void end(Mask mask);

private:
    struct Pending {
        std::size_t lane = 0;
        std::uint32_t group = 0;
        Accessor who;
        BulkChunks chunks;
    };
    void finish(const Pending& pending);

    SharedMemory& shared_;
    const LaunchContext& launch_;
    std::vector<Pending> pending_;
    std::array<std::uint32_t, kLanes> committed_{};  ///< groups that a lane has closed
};

}  // namespace jitgemm::emulator
