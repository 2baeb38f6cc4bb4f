#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace jitgemm {
namespace {

constexpr int kWarpLanes = 32;
constexpr int kWavefrontBytes = kSharedBanks * kBankBytes;
constexpr int kWidestSpan = 128;

/// Different words wanted of the busiest bank.
int phase_wavefronts(int first_lane, int lanes, int bytes, const LaneAddress& byte_address) {
    std::array<std::set<int>, kSharedBanks> words;
    for (int lane = first_lane; lane < first_lane + lanes; ++lane) {
        const int first_word = byte_address(lane) / kBankBytes;
        const int last_word = (byte_address(lane) + bytes - 1) / kBankBytes;
        for (int word = first_word; word <= last_word; ++word) {
            words[static_cast<std::size_t>(word % kSharedBanks)].insert(word);
        }
    }
    const auto busiest = std::max_element(
        words.begin(), words.end(), [](const auto& left, const auto& right) { return left.size() < right.size(); });
    return static_cast<int>(busiest->size());
}

int wavefronts(int all_lanes, int bytes, const LaneAddress& byte_address) {
    const int lanes = std::min(all_lanes, kWavefrontBytes / std::max(bytes, kBankBytes));
    int sum = 0;
    for (int lane = 0; lane < all_lanes; lane += lanes) sum += phase_wavefronts(lane, lanes, bytes, byte_address);
    return sum;
}

}  // namespace

std::string swizzle_violation(int pitch_bytes) {
    if (pitch_bytes == 16 || pitch_bytes == 32 || pitch_bytes == 64) return {};
    if (pitch_bytes > 0 && pitch_bytes % kWidestSpan == 0) return {};
    return fmt::format("rows of {} bytes cannot be swizzled: only rows of 16, 32, 64 or a multiple of 128 bytes can",
                       pitch_bytes);
}

int swizzle_span(int pitch_bytes) { return std::min(pitch_bytes, kWidestSpan); }

int swizzled_chunk(int pitch_bytes, int row, int chunk) {
    // Rows that share one pass over the banks (128 bytes) keep one term: they differ already.
    const int span_chunks = swizzle_span(pitch_bytes) / kChunkBytes;
    const int rows_per_pass = kWidestSpan / swizzle_span(pitch_bytes);
    return chunk ^ (row / rows_per_pass % span_chunks);
}

int swizzled_offset(int pitch_bytes, int row, int chunk) {
    return row * pitch_bytes + swizzled_chunk(pitch_bytes, row, chunk) * kChunkBytes;
}

int padded_offset(int pitch_bytes, int row, int chunk) {
    return row * (pitch_bytes + kChunkBytes) + chunk * kChunkBytes;
}

int ldmatrix_wavefronts(int x, const LaneAddress& byte_address) {
    constexpr int kRowsPerMatrix = 8;
    return wavefronts(x * kRowsPerMatrix, kChunkBytes, byte_address);
}

int access_wavefronts(int bytes, const LaneAddress& byte_address) {
    return wavefronts(kWarpLanes, bytes, byte_address);
}

}  // namespace jitgemm
