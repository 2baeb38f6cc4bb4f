#pragma once
#if !GEMM_OVERLAPPED

// All rows of a warp.
#if GEMM_C_TMA || GEMM_BROADCAST_C
__device__ __forceinline__ void epilogue(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const GemmArgs& args,
                                         const Edges& edges, int warp_row, int warp_column, Staging& staging,
                                         const PartOfC& c, int lane) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
        store_rows(rC[i], args, edges, warp_row + i * 64, warp_column, staging, c.below(i * 64), lane);
}
#else
__device__ __forceinline__ void epilogue(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const GemmArgs& args,
                                         const Edges& edges, int warp_row, int warp_column, Staging& staging,
                                         int lane) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) store_rows(rC[i], args, edges, warp_row + i * 64, warp_column, staging, lane);
}
#endif
#endif
