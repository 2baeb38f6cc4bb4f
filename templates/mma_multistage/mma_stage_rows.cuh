#pragma once
#include "epilogue/accumulator_pair.cuh"

// rC -> sC: rows g and g + 8 of a row of atoms, a pair of columns at a time.
#if GEMM_STAGED_SUMS || GEMM_PARTIAL_SUMS
__device__ __forceinline__ void stage_rows(Staged* sC, const Accumulator (&rC)[kTilesN][kRegistersC]) {
#else
__device__ __forceinline__ void stage_rows(Staged* sC, const Accumulator (&rC)[kTilesN][kRegistersC],
                                           const OutputTile& output) {
#endif
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            Staged* target = sC + (lane / 4 + pair * 8) * kPitchC + j * kMmaN + lane % 4 * 2;
// clang-format off
#if GEMM_STAGED_INTEGERS
            *reinterpret_cast<int2*>(target) = accumulator_pair(rC[j], pair);
#else
            const float2 sum = accumulator_pair(rC[j], pair);
#if GEMM_STAGED_SUMS || GEMM_PARTIAL_SUMS
            *reinterpret_cast<float2*>(target) = sum;
#elif GEMM_STAGED_F32
            *reinterpret_cast<float2*>(target) = make_float2(finish(output, sum.x), finish(output, sum.y));
#else
            *reinterpret_cast<unsigned*>(target) = pack_d(finish(output, sum.x), finish(output, sum.y));
#endif
#endif
            // clang-format on
        }
}
