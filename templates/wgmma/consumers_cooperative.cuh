#pragma once
#include "wgmma/wgmma_mainloop.cuh"
// Each consumer multiplies its part of every tile, then stores it.
__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    TileWalk walk(args);
#include "wgmma/warpgroup_place.inl"
    Staging staging(shared.staging);
    RingPosition ring;
#pragma unroll 1
    for (; walk.has_tile(); walk.next()) {
        Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
        const auto [tile, read] = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);
#if GEMM_BROADCAST_C
        const int row = tile.row + warpgroup_row + warp * 16;
        const int column = tile.column + warpgroup_column;
        const PartOfC c(args, tile, row, column, lane);
#endif
        wgmma_wait_for(rC);
        release(shared, read, lane);

#if GEMM_STREAM_K
        if (!walk.piece.ends_tile) {
            leave_partial_sums(rC, args, warpgroup * 4 + warp, lane);
            continue;
        }
        if (walk.piece.first_k_tile != 0) add_partial_sums(rC, args, walk, warpgroup * 4 + warp, lane);
#endif
#if !GEMM_BROADCAST_C
        const int row = tile.row + warpgroup_row + warp * 16;
        const int column = tile.column + warpgroup_column;
#endif
#if GEMM_C_TMA
        wait_for_c(args, shared, ring);
        const PartOfC c(args, shared, ring, warpgroup % kConsumersN * kPanelsPerRow, warpgroup_row + warp * 16);
        epilogue(rC, args, tile, row, column, staging, c, lane);
        release_c(args, shared, ring, lane);
#elif GEMM_BROADCAST_C
        epilogue(rC, args, tile, row, column, staging, c, lane);
#else
        epilogue(rC, args, tile, row, column, staging, lane);
#endif
    }
#if GEMM_STORE_TMA
    if (lane == 0) tma_store_wait_read<0>();  // TMA must have read shared memory before the block ends
#endif
}
