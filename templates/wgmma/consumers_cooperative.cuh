#pragma once
#include "mainloop.cuh"

// Each consumer multiplies its part of every tile, then stores it.
__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    TileWalk walk(args, shared);
#include "wgmma/warpgroup_place.inl"
    Staging staging(shared.staging);
    RingPosition ring;
#pragma unroll 1
    for (; walk.has_tile(); walk.next()) {
        Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
#if GEMM_PROMOTED
        const Tile tile = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);
        GEMM_PREPARE_STORE();
#else
        const auto [tile, read] = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);
        GEMM_PREPARE_STORE();
        wgmma_wait_for(rC);
        release(shared, read, lane);
#endif

#if GEMM_STREAM_K
        if (!walk.piece.ends_tile) {
            leave_partial_sums(rC, args, warpgroup * 4 + warp, lane);
            continue;
        }
        if (walk.piece.first_k_tile != 0) add_partial_sums(rC, args, walk, warpgroup * 4 + warp, lane);
#endif
        GEMM_STORE_SUMS();
    }
    GEMM_END_STORES();
}
