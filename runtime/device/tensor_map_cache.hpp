#pragma once

#include "generator/base/tensor_map.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jitgemm {

/// Encoded tensor maps by the address and the owner of their tensor, for launches of one kernel from many threads. No
/// lock and no memory to give back: each slot is a sequence lock (Boehm, "Can Seqlocks Get Along With Programming
/// Language Memory Models?", MSPC 2012), whose readers take the words and look whether a writer came between. A key
/// has one slot; the last one to be encoded has it.
class TensorMapCache {
public:
    struct Key {
        std::uint64_t address;
        std::uint64_t owner;  ///< a map of a problem
    };
    /// Copies the map of that key to `bytes`, 128 of them; false where it is not there.
    [[nodiscard]] bool find(const Key& key, std::byte* bytes) const;
    /// Not kept where another thread is writing to the same slot.
    void insert(const Key& key, const EncodedTensorMap& map);

private:
    static constexpr std::size_t kWords = sizeof(EncodedTensorMap) / sizeof(std::uint64_t);
    static constexpr int kSlotBits = 9;

    struct Slot {
        std::atomic<std::uint64_t> version = 0;  ///< odd while somebody writes
        std::atomic<std::uint64_t> address = 0;
        std::atomic<std::uint64_t> owner = 0;
        std::array<std::atomic<std::uint64_t>, kWords> words{};
    };
    /// Fibonacci hashing: rotating buffers lie at multiples of large powers of two.
    [[nodiscard]] static std::size_t slot_of(const Key& key) {
        const std::uint64_t mixed = key.address * 0x9e3779b97f4a7c15ULL + key.owner * 0xd1b54a32d192ed03ULL;
        return static_cast<std::size_t>(mixed >> (64 - kSlotBits));
    }

    std::array<Slot, std::size_t{1} << kSlotBits> slots_;
};

}  // namespace jitgemm
