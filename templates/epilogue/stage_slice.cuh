#pragma once
#if GEMM_SLICE_F32 && GEMM_TYPE_D != 7
#include "epilogue/stage_floats.cuh"

// Writes one slice of f32. `finished(j)` gives its j-th atom of eight columns.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
#pragma unroll
#if GEMM_SYMMETRIC
    for (int j = 0; j < kColumns / 8; ++j) {
        const Atom atom = finished(j);
        stage_floats<kColumns>(slice, atom, j, lane);
        stage_mirror(slice, atom, j, lane);
    }
#else
    for (int j = 0; j < kColumns / 8; ++j) stage_floats<kColumns>(slice, finished(j), j, lane);
#endif
}
#elif GEMM_TYPE_D >= 4

#if GEMM_TYPE_D == 7
__device__ __forceinline__ void store_shared(unsigned address, int2 pair) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(pair.x), "r"(pair.y) : "memory");
}
#else
__device__ __forceinline__ void store_shared(unsigned address, unsigned short pair) {
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(pair) : "memory");
}
#endif

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
#if GEMM_EXACT_SUMS
            store_shared(chunk + byte % 16, atom.pair[pair]);
#else
            store_shared(chunk + byte % 16, pack_d(atom.pair[pair].x, atom.pair[pair].y));
#endif
        }
#if GEMM_SYMMETRIC
        stage_mirror(slice, atom, j, lane);
#endif
    }
}
#else

// Writes one slice of 16-bit elements. `finished(j)` gives its j-th atom of eight columns.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
    constexpr int kRowBytes = kColumns * 2;
    const auto packed = [](float2 pair) { return pack_d(pair.x, pair.y); };
#if GEMM_STMATRIX
#pragma unroll
    for (int j = 0; j + 1 < kColumns / 8; j += 2) {
        const Atom left = finished(j), right = finished(j + 1);
#if GEMM_SYMMETRIC
        const unsigned words[4] = {packed(left.pair[0]), packed(left.pair[1]), packed(right.pair[0]),
                                   packed(right.pair[1])};
        stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j + lane / 16), words);
        stmatrix_transposed(mirror_address(slice, j * 8 + lane / 16 * 8 + lane % 8, lane / 8 % 2), words);
#else
        stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j + lane / 16),
                 {packed(left.pair[0]), packed(left.pair[1]), packed(right.pair[0]), packed(right.pair[1])});
#endif
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
