#pragma once

#include "runtime/emulator/global_memory.hpp"
#include "runtime/emulator/shared_access.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/// \file What a bulk copy consists of: chunks of 16 bytes.

namespace jitgemm::emulator {

inline constexpr std::uint32_t kBulkChunkBytes = 16;

struct BulkChunk {
    std::uint32_t offset = 0;   ///< in shared memory, swizzled
    std::uint32_t valid = 0;    ///< bytes that lie in the tensor; the others are read as zeros and never written
    DeviceAddress address = 0;  ///< of the valid ones
    std::byte* host = nullptr;  ///< where they really lie
    bool once = false;          ///< a second store must bring what is there
};

/// Chunks side by side in shared memory.
using BulkChunks = std::vector<BulkChunk>;

/// One copy into a block's shared memory, which an mbarrier of that block counts.
struct BulkLoad {
    Accessor who;
    std::shared_ptr<const BulkChunks> chunks;
    [[nodiscard]] std::uint32_t bytes() const {
        return static_cast<std::uint32_t>(chunks->size()) * kBulkChunkBytes;  // those out of bounds, too
    }
};

}  // namespace jitgemm::emulator
