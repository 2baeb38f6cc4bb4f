#pragma once

#include "jitgemm/data_type.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// How TMA permutes the 16-byte chunks of a box in shared memory: the name gives the bytes that the pattern spans.
enum class TensorMapSwizzle : std::uint8_t { none, span32, span64, span128 };
/// The bytes that L2 fetches along with a sector that TMA reads.
enum class L2Promotion : std::uint8_t { none, bytes64, bytes128, bytes256 };
[[nodiscard]] std::string_view to_string(TensorMapSwizzle swizzle);
[[nodiscard]] std::string_view to_string(L2Promotion promotion);
/// Bytes of the pattern; 16 for none, in which no chunk moves.
[[nodiscard]] constexpr int span_bytes(TensorMapSwizzle swizzle) { return 16 << static_cast<int>(swizzle); }

inline constexpr int kMaxTensorRank = 5;

/// Most elements of a box along a dimension.
inline constexpr int kMaxBoxExtent = 256;

/// A box in shared memory begins at a multiple of this many bytes, whatever its swizzle (CUDA C++ Programming Guide,
/// "TMA Swizzle"; PTX ISA, cp.async.bulk.tensor).
inline constexpr int kTmaSharedAlignment = 128;

/// A tensor in global memory, and the box of it that one TMA copy moves: the input of cuTensorMapEncodeTiled (CUDA
/// Driver API, "Tensor Map Object Management"). It is tiled, not interleaved, and its element strides are one. Beyond
/// the extents a load reads zeros and a store writes nothing. Dimension 0 is the contiguous one.
struct TiledTensorMap {
    DataType type = DataType::bf16;
    int rank = 2;                                         ///< 1 to 5
    std::uint64_t address = 0;                            ///< of element 0, a multiple of 16
    std::array<std::uint64_t, kMaxTensorRank> extents{};  ///< elements, 1 to 2^32
    std::array<std::uint64_t, kMaxTensorRank - 1>
        pitches{};                                      ///< of dimension 1 and on: bytes, multiples of 16 below 2^40
    std::array<std::uint32_t, kMaxTensorRank> box{};    ///< elements, 1 to 256; along dimension 0 whole 16 bytes
    TensorMapSwizzle swizzle = TensorMapSwizzle::none;  ///< spans at least one row of the box
    L2Promotion promotion = L2Promotion::none;
    friend bool operator==(const TiledTensorMap&, const TiledTensorMap&) = default;
};

/// Every rule of cuTensorMapEncodeTiled that the map breaks, with its value; empty if the map can be encoded.
[[nodiscard]] std::vector<std::string> tensor_map_problems(const TiledTensorMap& map);

/// A tensor map as a kernel takes it by value: a CUtensorMap on a GPU, and the emulator's own bytes on the emulator.
struct alignas(64) EncodedTensorMap {
    std::array<std::byte, 128> bytes{};
    friend bool operator==(const EncodedTensorMap&, const EncodedTensorMap&) = default;
};

}  // namespace jitgemm
