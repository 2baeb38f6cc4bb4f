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
        GEMM_MULTIPLY_TILE();

        GEMM_MEET_PIECES();
        GEMM_STORE_SUMS();
    }
    GEMM_END_STORES();
}
