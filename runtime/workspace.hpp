#pragma once

#include "runtime/device.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace jitgemm {

/// Scratch memory for kernels that need some and were given none: one buffer a stream, and one for each capture of a
/// stream, which belongs to the graph being captured until that graph and all its instances are gone, and is then used
/// again. Contents are undefined. Freed with the pool.
class WorkspacePool {
public:
    explicit WorkspacePool(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    WorkspacePool(const WorkspacePool&) = delete;
    WorkspacePool& operator=(const WorkspacePool&) = delete;
    ~WorkspacePool();

    /// The memory, and the turn of the launch that uses it: until the lease ends, other launches on the same stream
    /// wait, so that a kernel of several entries is enqueued without another one between them.
    struct Lease {
        DevicePointer memory;
        std::unique_lock<std::mutex> turn;
    };
    [[nodiscard]] Lease acquire(Stream stream, std::size_t bytes);

private:
    struct Slot {
        StreamIdentity owner;
        std::weak_ptr<const void> graph;  ///< expires with the graph captured into; unused outside captures
        std::mutex turn;
        DevicePointer memory;
        std::size_t bytes = 0;
        std::vector<DevicePointer> outgrown;  ///< work already enqueued, or a graph, may still use them
    };
    [[nodiscard]] Slot& slot_of(const StreamIdentity& owner, Stream stream);
    [[nodiscard]] Slot& take_slot(const StreamIdentity& owner);
    void grow(Slot& slot, std::size_t bytes);
    void free_outgrown(Slot& slot) noexcept;

    std::shared_ptr<Device> device_;
    std::mutex mutex_;  ///< guards the list and the owners, not the memory
    std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace jitgemm
