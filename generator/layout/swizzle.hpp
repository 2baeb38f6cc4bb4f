#pragma once

#include <functional>
#include <string>

namespace jitgemm {

inline constexpr int kChunkBytes = 16;  ///< what ldmatrix and a full vector move as one
inline constexpr int kSharedBanks = 32;
inline constexpr int kBankBytes = 4;

/// Why rows of this many bytes can't be XOR-swizzled in chunks of 16; empty when they can: 16 (nothing to permute), 32,
/// 64 and multiples of 128.
[[nodiscard]] std::string swizzle_violation(int pitch_bytes);

/// Bytes over which the swizzle of rows this long permutes chunks: 128, 64 or 32; 16 where it does nothing.
[[nodiscard]] int swizzle_span(int pitch_bytes);

/// The chunk of its row where the XOR swizzle puts a 16-byte chunk, so that 8 rows read at one chunk meet 8 different
/// groups of 4 banks. For rows of 32, 64 and 128 bytes these are TMA's swizzles of those names.
[[nodiscard]] int swizzled_chunk(int pitch_bytes, int row, int chunk);

/// Byte offset of a chunk in a swizzled tile.
[[nodiscard]] int swizzled_offset(int pitch_bytes, int row, int chunk);

/// Byte offset of a chunk in a tile whose rows are padded by one chunk.
[[nodiscard]] int padded_offset(int pitch_bytes, int row, int chunk);

using LaneAddress = std::function<int(int lane)>;

/// Times the shared-memory port is busy with one ldmatrix of x matrices: each 8 lanes' rows are one phase, and rows that
/// meet in a bank are served one after the other. The ideal is x.
[[nodiscard]] int ldmatrix_wavefronts(int x, const LaneAddress& byte_address);

/// The same for a load or store of 1 to 16 bytes a lane by a full warp: 32 lanes a phase up to 4 bytes, 16 lanes of 8
/// bytes, 8 lanes of 16 bytes. The ideal is 1, 2, 4.
[[nodiscard]] int access_wavefronts(int bytes, const LaneAddress& byte_address);

}  // namespace jitgemm
