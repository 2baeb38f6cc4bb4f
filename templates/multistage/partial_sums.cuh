#pragma once

#if GEMM_PARTS
// Tensor cores cut long sums toward zero. So they begin anew every kPromotedBlocks k-blocks, and CUDA cores add these
// partial sums to the tile's sums in f32.
#else
// Tensor cores may keep fewer bits of a sum of 8-bit floats than f32 has. So they begin anew every kPromotedBlocks
// k-blocks, and CUDA cores add these partial sums to the tile's sums in f32.
#endif
__device__ __forceinline__ void add_partial_sums(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                                 const Accumulator (&partial)[kTilesM][kTilesN][kRegistersC]) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
#pragma unroll
            for (int r = 0; r < kRegistersC; ++r) rC[i][j][r] += partial[i][j][r];
}
