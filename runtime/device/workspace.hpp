#pragma once

#include "jitgemm/device_pointer.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace jitgemm {

/// Scratch memory for kernels that need some and were given none: one buffer per stream, and one for each capture of a
/// stream, which belongs to the graph being captured until that graph and all its instances are gone, and is then used
/// again. Contents are undefined, but for the counters: they are zeros when the first kernel begins, and every kernel
/// leaves zeros behind. Freed with the pool.
///
/// Of streams outside captures the kMostStreams last used keep theirs: a program may make a stream per request and
/// destroy it unseen. Freeing a buffer waits for the work that uses it, so that half of them go at once and the wait is
/// rare.
class WorkspacePool {
public:
    static constexpr std::size_t kMostStreams = 64;

    explicit WorkspacePool(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    WorkspacePool(const WorkspacePool&) = delete;
    WorkspacePool& operator=(const WorkspacePool&) = delete;
    ~WorkspacePool();

private:
    struct Slot {
        std::mutex turn;
        // Under `turn`:
        DevicePointer memory;
        std::size_t bytes = 0;
        DevicePointer counters;
        std::size_t counter_bytes = 0;
        std::vector<DevicePointer> outgrown;  ///< work already enqueued, or a graph, may still use them
        bool dropped = false;                 ///< no longer of the pool
        bool of_graph = false;                ///< else of a stream: freeing waits for what uses it
        // Under the pool's mutex:
        std::uint64_t last_use = 0;
        std::weak_ptr<const void> graph;  ///< expires with the graph captured into; unused outside captures
    };

public:
    /// The memory, and the turn of the launch that uses it: until the lease ends, other launches on the same stream
    /// wait, so that a kernel of several entries is enqueued without another one between them.
    struct Lease {
        DevicePointer memory;
        DevicePointer counters;
        std::shared_ptr<Slot> slot;  ///< outlives the turn
        std::unique_lock<std::mutex> turn;
    };
    /// Asks for more than `bytes` where a buffer grows, and is content with `bytes` where that is refused; where they
    /// are, too, the streams' buffers go first. Throws as Device::allocate does when nothing helps.
    [[nodiscard]] Lease acquire(Stream stream, std::size_t bytes, std::size_t counter_bytes = 0);

private:
    struct IdentityHash {
        std::size_t operator()(const StreamIdentity& identity) const noexcept {
            return static_cast<std::size_t>(identity.stream * 0x9e3779b97f4a7c15ULL + identity.capture);
        }
    };
    using Slots = std::unordered_map<StreamIdentity, std::shared_ptr<Slot>, IdentityHash>;

    [[nodiscard]] std::shared_ptr<Slot> slot_of(const StreamIdentity& owner, Stream stream);
    [[nodiscard]] std::shared_ptr<Slot> new_slot(const StreamIdentity& owner, Stream stream);
    [[nodiscard]] std::shared_ptr<Slot> slot_of_gone_graph();
    void drop_oldest(std::size_t keep, const Slot* but = nullptr);
    void grow(Slot& slot, std::size_t bytes);
    void grow_counters(Slot& slot, std::size_t bytes);
    [[nodiscard]] DevicePointer allocate_at_last(Slot& slot, std::size_t bytes);
    void free_all(Slot& slot) noexcept;
    void free_outgrown(Slot& slot) noexcept;

    std::shared_ptr<Device> device_;
    std::mutex mutex_;  ///< guards the tables, not the memory
    Slots streams_;
    Slots captures_;
    std::uint64_t uses_ = 0;
};

}  // namespace jitgemm
