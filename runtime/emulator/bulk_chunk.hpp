#pragma once

#include "runtime/emulator/global_memory.hpp"
#include "runtime/emulator/shared_access.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/// \file The parts of a bulk copy: chunks of 16 bytes.

namespace jitgemm::emulator {

inline constexpr std::uint32_t kBulkChunkBytes = 16;

struct BulkChunk {
    std::uint32_t offset = 0;   ///< in shared memory, swizzled
    std::uint32_t valid = 0;    ///< bytes that lie in the tensor; the others are read as zeros and never written
    DeviceAddress address = 0;  ///< of the valid bytes
    std::byte* host = nullptr;  ///< where they lie on the host
    bool once = false;          ///< a second store must bring the same value
    bool rounds_to_tf32 = false;
};

/// Chunks side by side in shared memory.
using BulkChunks = std::vector<BulkChunk>;

/// One copy into a block's shared memory. An mbarrier of that block counts it.
struct BulkLoad {
    Accessor who;
    std::shared_ptr<const BulkChunks> chunks;
    [[nodiscard]] std::uint32_t bytes() const {
        return static_cast<std::uint32_t>(chunks->size()) * kBulkChunkBytes;  // also those out of bounds
    }
};

}  // namespace jitgemm::emulator
