#pragma once

// GEMM_WHY_SUMS_BEGIN_ANEW();
__device__ __forceinline__ void add_partial_sums(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                                 const Accumulator (&partial)[kTilesM][kTilesN][kRegistersC]) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
#pragma unroll
            for (int r = 0; r < kRegistersC; ++r) rC[i][j][r] += partial[i][j][r];
}
