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

/// Scratch memory for kernels that need some if the caller gave none. There is one buffer per stream, and one for each
/// capture of a stream. The latter belongs to the captured graph until it and all its instances are gone, and is then
/// used again. Contents are undefined, except the counters: they are zeros when the first kernel begins, and every
/// kernel leaves zeros. The pool frees its memory. Outside captures, the kMostStreams streams used last keep their
/// buffers, because a program may make and destroy a stream per request. Freeing a buffer waits for the work that uses
/// it, so half of the buffers are freed at once, and seldom.
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
        // Guarded by `turn`:
        DevicePointer memory;
        std::size_t bytes = 0;
        DevicePointer counters;
        std::size_t counter_bytes = 0;
        std::vector<DevicePointer> outgrown;  ///< enqueued work, or a graph, may still use them
        bool dropped = false;                 ///< no longer in the pool
        bool of_graph = false;                ///< else of a stream: freeing waits for the work that uses it
        // Guarded by the pool's mutex:
        std::uint64_t last_use = 0;
        std::weak_ptr<const void> graph;  ///< expires with the captured graph; unused outside captures
    };

public:
    /// The memory, and the turn of the launch that uses it. Until the lease ends, other launches on the same stream
    /// wait. The entries of one kernel are then enqueued without another kernel between them.
    struct Lease {
        DevicePointer memory;
        DevicePointer counters;
        std::shared_ptr<Slot> slot;  ///< outlives the turn
        std::unique_lock<std::mutex> turn;
    };
    /// A buffer that grows first asks for more than `bytes`, and for `bytes` if that is refused. If they are refused,
    /// too, the streams' buffers are freed first. Throws as Device::allocate does if nothing helps.
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
