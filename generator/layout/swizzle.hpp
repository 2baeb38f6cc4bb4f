#pragma once

#include "generator/layout/bank_conflicts.hpp"

#include <string>

namespace jitgemm {

inline constexpr int kChunkBytes = 16;  ///< ldmatrix and a full vector move this many bytes

/// Why rows of this many bytes cannot be XOR-swizzled in chunks of 16; empty if they can: 16 (nothing to permute), 32,
/// 64 and multiples of 128.
[[nodiscard]] std::string swizzle_violation(int pitch_bytes);

/// Bytes over which the swizzle of rows of this length permutes chunks: 128, 64 or 32; 16 if it moves nothing.
[[nodiscard]] int swizzle_span(int pitch_bytes);

/// The place in its row where the XOR swizzle puts a 16-byte chunk. 8 rows that are read at one chunk then meet 8
/// different groups of 4 banks. For rows of 32, 64 and 128 bytes these are TMA's swizzles of those names.
[[nodiscard]] int swizzled_chunk(int pitch_bytes, int row, int chunk);

/// The same where two neighbouring chunks of each of 4 rows are read at once: they meet 4 different groups of 8 banks.
[[nodiscard]] int swizzled_pair(int pitch_bytes, int row, int chunk);

/// Byte offset of a chunk in a swizzled tile.
[[nodiscard]] int swizzled_offset(int pitch_bytes, int row, int chunk);

}  // namespace jitgemm
