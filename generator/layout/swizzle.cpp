#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kWidestSpan = 128;

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

int swizzled_pair(int pitch_bytes, int row, int chunk) {
    const int span_pairs = std::max(1, swizzle_span(pitch_bytes) / (2 * kChunkBytes));
    const int rows_per_pass = kWidestSpan / swizzle_span(pitch_bytes);
    return chunk ^ (row / rows_per_pass % span_pairs * 2);
}

int swizzled_offset(int pitch_bytes, int row, int chunk) {
    return row * pitch_bytes + swizzled_chunk(pitch_bytes, row, chunk) * kChunkBytes;
}

}  // namespace jitgemm
