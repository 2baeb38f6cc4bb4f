#pragma once
#include "common/chunk.cuh"

// A tile in shared memory has rows of 16-byte chunks, kPitch bytes apart. By ldmatrix, a warp reads the same chunk of
// eight consecutive rows at once, so these eight chunks should lie in different banks.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

#if GEMM_SWIZZLE
// Swizzle: chunk c of row r lies in slot c ^ (r / kRowsPerPhase % kSpan). kSpan, the largest power of two that divides
// the chunks of a row (at most 8), keeps the slots inside the row. kRowsPerPhase consecutive rows fill the 32 banks.
template <int kPitch>
__device__ __forceinline__ unsigned shared_offset(int row, int chunk) {
    constexpr int kChunks = kPitch / 16;
    constexpr int kSpan = kChunks % 8 == 0 ? 8 : kChunks % 4 == 0 ? 4 : kChunks % 2 == 0 ? 2 : 1;
    constexpr int kRowsPerPhase = 8 / kSpan;
    return row * kPitch + (chunk ^ (row / kRowsPerPhase % kSpan)) * 16;
}
#else
// Padding: a row is longer than its data; 16 bytes more make consecutive rows start four banks apart.
template <int kPitch>
__device__ __forceinline__ unsigned shared_offset(int row, int chunk) {
    return row * kPitch + chunk * 16;
}
#endif
#if GEMM_LOAD_WORDS

// The same for operands that lanes load word by word. A warp reads two neighbouring chunks of each of four consecutive
// rows at once, so chunks move in pairs.
template <int kPitch>
__device__ __forceinline__ unsigned paired_offset(int row, int chunk) {
#if GEMM_SWIZZLE
    constexpr int kChunks = kPitch / 16;
    constexpr int kSpan = kChunks % 8 == 0 ? 8 : kChunks % 4 == 0 ? 4 : 2;
    return row * kPitch + (chunk ^ (row * kSpan / 8 % (kSpan / 2) * 2)) * 16;
#else
    return row * kPitch + chunk * 16;
#endif
}
#endif
