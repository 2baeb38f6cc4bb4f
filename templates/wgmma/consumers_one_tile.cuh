#pragma once
#include "wgmma/wgmma_mainloop.cuh"
// Each consumer multiplies its part of the block's tile, then stores it.
__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    const TileWalk walk(args);
#include "wgmma/warpgroup_place.inl"
    RingPosition ring;
    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
#if GEMM_C_TMA
    const auto [origin, read] = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);
#else
    const TileOrigin origin = multiply_k_tiles(rC, shared, walk, a, b, ring, lane).origin;
#endif
#include "wgmma/finish_one_tile.inl"
}
