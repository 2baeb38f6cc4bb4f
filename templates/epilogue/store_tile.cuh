#pragma once
#if !GEMM_OVERLAPPED

// All rows of a warp.
__device__ __forceinline__ void epilogue(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const GemmArgs& args,
                                         const Edges& edges, int warp_row, int warp_column, Staging& staging,
                                         const TileOperands& operands, int lane) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
        store_rows(rC[i], args, edges, warp_row + i * 64, warp_column, staging, operands.below(i * 64), lane);
}
#endif
