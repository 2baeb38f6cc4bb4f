#pragma once
#if GEMM_WMMA
// A tile in shared memory is rows of 16-byte chunks, kPitch bytes apart. How wmma.load reads them is the hardware's business;
// like ldmatrix it is faster where chunks of consecutive rows lie in different banks.
#else
// A tile in shared memory is rows of 16-byte chunks, kPitch bytes apart. ldmatrix reads one chunk from each of eight
// consecutive rows at once, so these eight must lie in different banks.
#endif
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

#if GEMM_SWIZZLE
// Swizzle: chunk c of row r lies in slot c ^ (r / kRowsPerPhase % kSpan). kSpan, the largest power of two that divides the
// chunks of a row (at most 8), keeps the slots inside the row; kRowsPerPhase rows side by side fill the 32 banks.
template <int kPitch>
__device__ __forceinline__ unsigned shared_offset(int row, int chunk) {
    constexpr int kChunks      = kPitch / 16;
    constexpr int kSpan        = kChunks % 8 == 0 ? 8 : kChunks % 4 == 0 ? 4 : kChunks % 2 == 0 ? 2 : 1;
    constexpr int kRowsPerPhase = 8 / kSpan;
    return row * kPitch + (chunk ^ (row / kRowsPerPhase % kSpan)) * 16;
}
#else
#if GEMM_WMMA
// A row is kPadding elements longer than its data: eight of them make consecutive rows start four banks further on.
#else
// Padding: a row is one chunk longer than its data, so that consecutive rows start four banks apart.
#endif
template <int kPitch>
__device__ __forceinline__ unsigned shared_offset(int row, int chunk) {
    return row * kPitch + chunk * 16;
}
#endif
