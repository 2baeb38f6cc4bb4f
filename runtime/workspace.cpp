#include "runtime/workspace.hpp"

#include <algorithm>

namespace jitgemm {

WorkspacePool::~WorkspacePool() {
    for (const std::unique_ptr<Slot>& slot : slots_) {
        free_outgrown(*slot);
        device_->free(slot->memory);
    }
}

WorkspacePool::Lease WorkspacePool::acquire(Stream stream, std::size_t bytes) {
    const StreamIdentity owner = device_->identify(stream);
    Slot& slot = slot_of(owner, stream);
    std::unique_lock turn(slot.turn);
    if (slot.bytes < bytes) grow(slot, bytes);
    return {slot.memory, std::move(turn)};
}

WorkspacePool::Slot& WorkspacePool::slot_of(const StreamIdentity& owner, Stream stream) {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<Slot>& slot : slots_) {
        if (slot->owner == owner) return *slot;
    }
    Slot& slot = take_slot(owner);
    if (owner.capture != 0) {
        const auto token = std::make_shared<const int>();
        device_->keep_with_capture(stream, token);
        slot.graph = token;
    }
    slot.owner = owner;  // last: a slot whose graph could not be told to keep it stays free
    return slot;
}

// One whose graph is gone, else a new one.
WorkspacePool::Slot& WorkspacePool::take_slot(const StreamIdentity& owner) {
    for (const std::unique_ptr<Slot>& slot : slots_) {
        if (owner.capture == 0 || slot->owner.capture == 0 || !slot->graph.expired()) continue;
        free_outgrown(*slot);
        return *slot;
    }
    return *slots_.emplace_back(std::make_unique<Slot>());
}

// At least doubles, so that what was outgrown never adds up to more than what is in use.
void WorkspacePool::grow(Slot& slot, std::size_t bytes) {
    const std::size_t wanted = std::max(bytes, 2 * slot.bytes);
    const DevicePointer memory = device_->allocate(wanted);
    if (slot.memory) slot.outgrown.push_back(slot.memory);
    slot.memory = memory;
    slot.bytes = wanted;
}

void WorkspacePool::free_outgrown(Slot& slot) noexcept {
    for (const DevicePointer memory : slot.outgrown) device_->free(memory);
    slot.outgrown.clear();
}

}  // namespace jitgemm
