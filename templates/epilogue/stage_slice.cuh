#pragma once
#if GEMM_SLICE_F32 && GEMM_TYPE_D != 7
#include "epilogue/stage_floats.cuh"

// Writes one slice of f32. `finished(j)` gives its j-th atom of eight columns.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
#pragma unroll
    GEMM_STAGE_FLOATS();
}
#elif GEMM_TYPE_D >= 4

GEMM_STORE_SHARED();

// Writes one slice of elements of 8 or 32 bits. `finished(j)` gives its j-th atom of eight columns.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
    constexpr int kElementBytes = sizeof(Staged);
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
        const Atom atom = finished(j);
        const unsigned byte = (j * 8 + lane % 4 * 2) * kElementBytes;  // of the pair in its row
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
            const unsigned chunk =
                chunk_address<kColumns * kElementBytes, kSwizzled>(slice, lane / 4 + pair * 8, byte / 16);
            GEMM_STORE_SHARED_PAIR();
        }
        GEMM_STAGE_MIRROR();
    }
}
#else

// Writes one slice of 16-bit elements. `finished(j)` gives its j-th atom of eight columns.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
    constexpr int kRowBytes = kColumns * static_cast<int>(sizeof(Staged));
    const auto packed = [](float2 pair) { return pack_d(pair.x, pair.y); };
#if GEMM_STMATRIX
#pragma unroll
    for (int j = 0; j + 1 < kColumns / 8; j += 2) {
        const Atom left = finished(j), right = finished(j + 1);
        GEMM_STAGE_TWO_ATOMS();
    }
#endif
#if GEMM_STMATRIX_X2
    if constexpr (kColumns % 16 != 0) {
        const Atom last = finished(kColumns / 8 - 1);
        stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, kColumns / 8 - 1),
                 {packed(last.pair[0]), packed(last.pair[1])});
    }
#endif
}
#endif
