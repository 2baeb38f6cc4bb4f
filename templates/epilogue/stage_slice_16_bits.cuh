#pragma once

// Stores 8x8 matrices of 16-bit elements: each is one register of every lane. Lane l gives the address of row l % 8 of
// matrix l / 8.
#if GEMM_STMATRIX
__device__ __forceinline__ void stmatrix(unsigned address, const unsigned (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r[0]),
                 "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}
#endif
#if GEMM_STMATRIX_X2
__device__ __forceinline__ void stmatrix(unsigned address, const unsigned (&r)[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(r[0]), "r"(r[1])
                 : "memory");
}
#endif

// Writes one slice of 16-bit elements. `finished(j)` gives its j-th atom of eight columns.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
    constexpr int kRowBytes = kColumns * 2;
    const auto packed = [](float2 pair) { return pack_d(pair.x, pair.y); };
#if GEMM_STMATRIX
#pragma unroll
    for (int j = 0; j + 1 < kColumns / 8; j += 2) {
        const Atom left = finished(j), right = finished(j + 1);
        stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j + lane / 16),
                 {packed(left.pair[0]), packed(left.pair[1]), packed(right.pair[0]), packed(right.pair[1])});
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
