#include "runtime/device/workspace.hpp"

#include "jitgemm/error.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm {

WorkspacePool::~WorkspacePool() {
    for (const Slots* slots : {&streams_, &captures_})
        for (const auto& [owner, slot] : *slots) free_all(*slot);
}

WorkspacePool::Lease WorkspacePool::acquire(Stream stream, std::size_t bytes, std::size_t counter_bytes) {
    const StreamIdentity owner = device_->identify(stream);
    while (true) {
        std::shared_ptr<Slot> slot = slot_of(owner, stream);
        std::unique_lock turn(slot->turn);
        if (slot->dropped) continue;  // between finding it and its turn
        if (slot->bytes < bytes) grow(*slot, bytes);
        if (slot->counter_bytes < counter_bytes) grow_counters(*slot, counter_bytes);
        const DevicePointer memory = slot->memory;
        const DevicePointer counters = slot->counters;
        return {memory, counters, std::move(slot), std::move(turn)};
    }
}

std::shared_ptr<WorkspacePool::Slot> WorkspacePool::slot_of(const StreamIdentity& owner, Stream stream) {
    const std::lock_guard lock(mutex_);
    Slots& slots = owner.capture != 0 ? captures_ : streams_;
    const auto found = slots.find(owner);
    std::shared_ptr<Slot> slot = found != slots.end() ? found->second : new_slot(owner, stream);
    slot->last_use = ++uses_;
    return slot;
}

std::shared_ptr<WorkspacePool::Slot> WorkspacePool::new_slot(const StreamIdentity& owner, Stream stream) {
    if (owner.capture == 0) {
        if (streams_.size() >= kMostStreams) drop_oldest(kMostStreams / 2);
        return streams_.emplace(owner, std::make_shared<Slot>()).first->second;
    }
    const auto token = std::make_shared<const int>();
    device_->keep_with_capture(stream, token);
    std::shared_ptr<Slot> slot = slot_of_gone_graph();
    slot->graph = token;
    slot->of_graph = true;
    return captures_.emplace(owner, std::move(slot)).first->second;
}

// Of those whose graphs are gone the one that was used first, else a new one.
std::shared_ptr<WorkspacePool::Slot> WorkspacePool::slot_of_gone_graph() {
    auto gone = captures_.end();
    for (auto entry = captures_.begin(); entry != captures_.end(); ++entry) {
        const bool is_older = gone == captures_.end() || entry->second->last_use < gone->second->last_use;
        if (entry->second->graph.expired() && is_older) gone = entry;
    }
    if (gone == captures_.end()) return std::make_shared<Slot>();
    std::shared_ptr<Slot> slot = std::move(gone->second);
    captures_.erase(gone);
    free_outgrown(*slot);
    return slot;
}

// Those whose turn it is stay, and so does `but`, the caller's own.
void WorkspacePool::drop_oldest(std::size_t keep, const Slot* but) {
    std::vector<std::pair<std::uint64_t, StreamIdentity>> by_use;
    for (const auto& [owner, slot] : streams_)
        if (slot.get() != but) by_use.emplace_back(slot->last_use, owner);
    std::sort(by_use.begin(), by_use.end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
    by_use.resize(by_use.size() - std::min(keep, by_use.size()));
    for (const auto& [last_use, owner] : by_use) {
        const std::shared_ptr<Slot> slot = streams_.at(owner);
        const std::unique_lock turn(slot->turn, std::try_to_lock);
        if (!turn) continue;
        free_all(*slot);
        slot->dropped = true;
        streams_.erase(owner);
    }
}

// At least doubles if there is room: the outgrown buffers together are then never larger than the current one.
void WorkspacePool::grow(Slot& slot, std::size_t bytes) {
    std::size_t wanted = std::max(bytes, 2 * slot.bytes);
    DevicePointer memory;
    try {
        memory = device_->allocate(wanted);
    } catch (const Error&) {
        wanted = bytes;
        memory = allocate_at_last(slot, bytes);
    }
    if (slot.memory) slot.outgrown.push_back(slot.memory);
    slot.memory = memory;
    slot.bytes = wanted;
}

void WorkspacePool::grow_counters(Slot& slot, std::size_t bytes) {
    const DevicePointer zeros = device_->allocate_zeroed(std::max(bytes, 2 * slot.counter_bytes));
    if (slot.counters) slot.outgrown.push_back(slot.counters);
    slot.counters = zeros;
    slot.counter_bytes = std::max(bytes, 2 * slot.counter_bytes);
}

DevicePointer WorkspacePool::allocate_at_last(Slot& slot, std::size_t bytes) {
    try {
        return device_->allocate(bytes);
    } catch (const Error&) {
        if (!slot.of_graph) free_all(slot);
        const std::lock_guard lock(mutex_);
        drop_oldest(0, &slot);
    }
    return device_->allocate(bytes);
}

void WorkspacePool::free_all(Slot& slot) noexcept {
    free_outgrown(slot);
    device_->free(slot.memory);
    device_->free(slot.counters);
    slot.memory = slot.counters = nullptr;
    slot.bytes = slot.counter_bytes = 0;
}

void WorkspacePool::free_outgrown(Slot& slot) noexcept {
    for (const DevicePointer memory : slot.outgrown) device_->free(memory);
    slot.outgrown.clear();
}

}  // namespace jitgemm
