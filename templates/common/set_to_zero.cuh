#pragma once

__device__ __forceinline__ void set_to_zero(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
#pragma unroll
            for (int r = 0; r < kRegistersC; ++r) rC[i][j][r] = 0;
}
