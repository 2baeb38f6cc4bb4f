#pragma once

#if GEMM_PARTS
// The mmas of one warp tile. Tensor cores multiply tf32, which has 11 of the 24 bits of f32. So each element is the sum
// of two parts: the element rounded, and the rest rounded. The product of the second parts is left out.
#else
// The mma of one warp tile. Tensor cores multiply tf32, to which f32 is rounded.
#endif
__device__ __forceinline__ unsigned round_to_tf32(float x) {
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}
#if GEMM_PARTS

// Keeps a finite element from being rounded to Inf.
__device__ __forceinline__ float within_range(float x) { return fminf(fmaxf(x, -0x1.ffcp127f), 0x1.ffcp127f); }

template <int kCount>
__device__ __forceinline__ void take_parts(unsigned (&parts)[2][kCount], const unsigned* fragment) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        const float x = __uint_as_float(fragment[i]);
        parts[0][i] = round_to_tf32(within_range(x));
        parts[1][i] = round_to_tf32(x - __uint_as_float(parts[0][i]));
    }
}

// Small products come first.
__device__ __forceinline__ void mma_warp_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const unsigned* rA,
                                              const unsigned* rB) {
    unsigned a[2][kFragmentA], b[2][kFragmentB];
    take_parts(a, rA);
    take_parts(b, rB);
#pragma unroll
    for (int term = 0; term < 3; ++term)
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
#pragma unroll
            for (int step = 0; step < kTilesN; ++step) {
                const int j = i % 2 == 0 ? step : kTilesN - 1 - step;
                mma(rC[i][j], a[term == 0] + i * kRegistersA, b[term == 1] + j * kRegistersB);
            }
}
#else

__device__ __forceinline__ void mma_warp_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const unsigned* rA,
                                              const unsigned* rB) {
    unsigned a[kFragmentA], b[kFragmentB];
#pragma unroll
    for (int i = 0; i < kFragmentA; ++i) a[i] = round_to_tf32(__uint_as_float(rA[i]));
#pragma unroll
    for (int i = 0; i < kFragmentB; ++i) b[i] = round_to_tf32(__uint_as_float(rB[i]));
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int step = 0; step < kTilesN; ++step) {
            const int j = i % 2 == 0 ? step : kTilesN - 1 - step;
            mma(rC[i][j], a + i * kRegistersA, b + j * kRegistersB);
        }
}
#endif
