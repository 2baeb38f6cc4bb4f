#pragma once

#include "generator/base/tensor_map.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jitgemm {

/// Encoded tensor maps by the address and the owner of their tensor, for launches of one kernel from many threads.
/// There is no lock and no memory to free: each slot is a sequence lock (Boehm, "Can Seqlocks Get Along With
/// Programming Language Memory Models?", MSPC 2012). Its readers copy the words and check whether a writer came
/// between. A key has one slot, and the last map encoded there has it.
class TensorMapCache {
public:
    struct Key {
        std::uint64_t address;
        std::uint64_t owner;  ///< a map of a problem
    };
    /// Copies the map of this key to `bytes`, 128 of them. False if it is not there.
    [[nodiscard]] bool find(const Key& key, std::byte* bytes) const;
    /// The map is not kept if another thread is writing to the same slot.
    void insert(const Key& key, const EncodedTensorMap& map);

private:
    static constexpr std::size_t kWords = sizeof(EncodedTensorMap) / sizeof(std::uint64_t);
    static constexpr int kSlotBits = 9;

    struct Slot {
        std::atomic<std::uint64_t> version = 0;  ///< odd during a write
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
