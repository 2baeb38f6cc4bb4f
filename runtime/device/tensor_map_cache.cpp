#include "runtime/device/tensor_map_cache.hpp"

#include <cstring>

namespace jitgemm {

// Acquire on each word: none of them, and not the second look at the version, is read before the first.
bool TensorMapCache::find(const Key& key, std::byte* bytes) const {
    const Slot& slot = slots_.at(slot_of(key));
    const std::uint64_t version = slot.version.load(std::memory_order_acquire);
    if (version % 2 != 0 || slot.address.load(std::memory_order_acquire) != key.address ||
        slot.owner.load(std::memory_order_acquire) != key.owner)
        return false;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint64_t word = slot.words[i].load(std::memory_order_acquire);
        std::memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
    return slot.version.load(std::memory_order_relaxed) == version;
}

// Release on each word: whoever reads one of them sees the odd version, too.
void TensorMapCache::insert(const Key& key, const EncodedTensorMap& map) {
    Slot& slot = slots_.at(slot_of(key));
    std::uint64_t version = slot.version.load(std::memory_order_relaxed);
    if (version % 2 != 0 || !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
        return;
    slot.address.store(key.address, std::memory_order_release);
    slot.owner.store(key.owner, std::memory_order_release);
    for (std::size_t i = 0; i < kWords; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, map.bytes.data() + i * sizeof word, sizeof word);
        slot.words[i].store(word, std::memory_order_release);
    }
    slot.version.store(version + 2, std::memory_order_release);
}

}  // namespace jitgemm
