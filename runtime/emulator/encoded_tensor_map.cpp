#include "runtime/emulator/encoded_tensor_map.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace jitgemm::emulator {
namespace {

constexpr std::uint64_t kTensorMapMagic = 0x70616d2d726f736eULL;

/// How a map lies in its 128 bytes. No byte is left to chance: equal maps have equal bytes.
struct TensorMapBytes {
    std::uint64_t magic = kTensorMapMagic;
    std::uint64_t checksum = 0;
    std::uint64_t address = 0;
    std::array<std::uint64_t, kMaxTensorRank> extents{};
    std::array<std::uint64_t, kMaxTensorRank - 1> pitches{};
    std::array<std::uint32_t, kMaxTensorRank> box{};
    std::uint8_t type = 0;
    std::uint8_t rank = 0;
    std::uint8_t swizzle = 0;
    std::uint8_t promotion = 0;
    std::uint64_t unused = 0;
};
static_assert(sizeof(TensorMapBytes) == sizeof(EncodedTensorMap::bytes));

/// FNV-1a of all but the checksum.
std::uint64_t checksum_of(TensorMapBytes map) {
    map.checksum = 0;
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    for (const std::byte byte : std::bit_cast<std::array<std::byte, sizeof(map)>>(map)) {
        sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
    return sum;
}

}  // namespace

EncodedTensorMap encode_tensor_map(const TiledTensorMap& map) {
    if (const auto problems = tensor_map_problems(map); !problems.empty()) {
        throw Error(fmt::format("a tensor map that can't be encoded: {}", fmt::join(problems, "; ")));
    }
    TensorMapBytes bytes{.address = map.address,
                         .extents = map.extents,
                         .pitches = map.pitches,
                         .box = map.box,
                         .type = static_cast<std::uint8_t>(map.type),
                         .rank = static_cast<std::uint8_t>(map.rank),
                         .swizzle = static_cast<std::uint8_t>(map.swizzle),
                         .promotion = static_cast<std::uint8_t>(map.promotion)};
    bytes.checksum = checksum_of(bytes);
    return {std::bit_cast<std::array<std::byte, sizeof(bytes)>>(bytes)};
}

std::optional<TiledTensorMap> decode_tensor_map(const EncodedTensorMap& encoded) {
    const auto bytes = std::bit_cast<TensorMapBytes>(encoded.bytes);
    if (bytes.magic != kTensorMapMagic || bytes.checksum != checksum_of(bytes)) return std::nullopt;
    return TiledTensorMap{.type = static_cast<DataType>(bytes.type),
                          .rank = bytes.rank,
                          .address = bytes.address,
                          .extents = bytes.extents,
                          .pitches = bytes.pitches,
                          .box = bytes.box,
                          .swizzle = static_cast<TensorMapSwizzle>(bytes.swizzle),
                          .promotion = static_cast<L2Promotion>(bytes.promotion)};
}

}  // namespace jitgemm::emulator
