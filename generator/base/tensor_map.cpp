#include "generator/base/tensor_map.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

constexpr std::uint64_t kChunkBytes = 16;  // what TMA moves at least
constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32U;
constexpr std::uint64_t kPitchBound = std::uint64_t{1} << 40U;

constexpr std::array<std::string_view, 4> kSwizzles{"none", "32B", "64B", "128B"};
constexpr std::array<std::string_view, 4> kPromotions{"none", "64B", "128B", "256B"};

void check_dimension(const TiledTensorMap& map, int dimension, std::vector<std::string>& problems) {
    const auto i = static_cast<std::size_t>(dimension);
    if (map.extents.at(i) == 0 || map.extents.at(i) > kMaxExtent) {
        problems.push_back(fmt::format("extent {} of dimension {} is not 1 to 2^32", map.extents.at(i), i));
    }
    if (map.box.at(i) == 0 || map.box.at(i) > std::uint32_t{kMaxBoxExtent}) {
        problems.push_back(
            fmt::format("box extent {} of dimension {} is not 1 to {}", map.box.at(i), i, kMaxBoxExtent));
    }
    if (i == 0) return;
    const std::uint64_t pitch = map.pitches.at(i - 1);
    if (pitch % kChunkBytes != 0 || pitch >= kPitchBound) {
        problems.push_back(
            fmt::format("pitch {} of dimension {} is not a multiple of {} bytes below 2^40", pitch, i, kChunkBytes));
    }
}

void check_box_row(const TiledTensorMap& map, std::vector<std::string>& problems) {
    const std::uint64_t row = map.box[0] * static_cast<std::uint64_t>(bytes(map.type));
    if (row % kChunkBytes != 0) {
        problems.push_back(fmt::format("a row of the box has {} bytes, not a multiple of {}", row, kChunkBytes));
    }
    const auto span = static_cast<std::uint64_t>(span_bytes(map.swizzle));
    if (map.swizzle != TensorMapSwizzle::none && row > span) {
        problems.push_back(fmt::format("a row of the box has {} bytes, more than the swizzle's {}", row, span));
    }
}

}  // namespace

std::string_view to_string(TensorMapSwizzle swizzle) { return kSwizzles.at(static_cast<std::size_t>(swizzle)); }
std::string_view to_string(L2Promotion promotion) { return kPromotions.at(static_cast<std::size_t>(promotion)); }

std::vector<std::string> tensor_map_problems(const TiledTensorMap& map) {
    std::vector<std::string> problems;
    if (map.rank < 1 || map.rank > kMaxTensorRank) {
        problems.push_back(fmt::format("rank {} is not 1 to {}", map.rank, kMaxTensorRank));
        return problems;
    }
    if (map.address == 0 || map.address % kChunkBytes != 0) {
        problems.push_back(fmt::format("address {:#x} is null or not a multiple of {}", map.address, kChunkBytes));
    }
    for (int dimension = 0; dimension < map.rank; ++dimension) check_dimension(map, dimension, problems);
    check_box_row(map, problems);
    return problems;
}

}  // namespace jitgemm
