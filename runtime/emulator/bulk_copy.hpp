#pragma once

#include "generator/base/tensor_map.hpp"
#include "runtime/emulator/bulk_chunk.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <array>
#include <cstdint>

/// \file The bytes that TMA moves between global and shared memory.

namespace jitgemm::emulator {

/// `bytes` from `address` on, checked as `access` and counted for the current instruction. Throws AccessFault.
[[nodiscard]] BulkChunks line_chunks(Warp& warp, DeviceAddress address, std::uint32_t bytes,
                                     std::uint32_t shared_offset, Access access);

using BoxStart = std::array<std::int64_t, kMaxTensorRank>;  ///< coordinates of a box, elements

/// The same for the box of `map` that begins at these coordinates. Throws AccessFault if the coordinates are an illegal
/// instruction on a GPU: a first one that is not at a multiple of 16 bytes, or a negative one of a store.
[[nodiscard]] BulkChunks box_chunks(Warp& warp, const TiledTensorMap& map, const BoxStart& start,
                                    std::uint32_t shared_offset, Access access);

/// Throws AccessFault unless the chunks lie in the memory.
void require_in_range(const SharedMemory& shared, const BulkChunks& chunks);

/// A load by a map of tf32 rounds its elements to the nearest, ties to even, and leaves Inf and NaN as they are.
void move_to_shared(SharedMemory& shared, const BulkChunks& chunks);
/// Throws AccessFault as put_once() does.
void move_to_global(const LaunchContext& launch, SharedMemory& shared, const BulkChunks& chunks);

}  // namespace jitgemm::emulator
