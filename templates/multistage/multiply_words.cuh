#pragma once

// GEMM_HOW_WORDS_ARE_MULTIPLIED();

// Rounds to nearest, ties away from zero. Tensor cores ignore the low 13 bits of the result. A NaN stays NaN, or
// becomes Inf if only its low 13 bits are set.
__device__ __forceinline__ unsigned round_to_tf32(float x) {
    const unsigned bits = __float_as_uint(x);
    return x == x ? bits + 0x1000 : bits;
}
#if GEMM_PARTS

// A finite element is not rounded to Inf.
__device__ __forceinline__ unsigned first_part(float x) {
    const unsigned bits = __float_as_uint(x);
    return (fabsf(x) < 0x1.ffep127f ? bits + 0x1000 : bits) & 0xffffe000;
}

template <int kCount>
__device__ __forceinline__ void take_parts(unsigned (&parts)[2][kCount], const unsigned* fragment) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        const float x = __uint_as_float(fragment[i]);
        parts[0][i] = first_part(x);
        parts[1][i] = round_to_tf32(x - __uint_as_float(parts[0][i]));
    }
}

// Adds three products of parts. Small products come first.
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

template <int kCount>
__device__ __forceinline__ void round_fragment(unsigned* fragment) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) fragment[i] = round_to_tf32(__uint_as_float(fragment[i]));
}
#endif
