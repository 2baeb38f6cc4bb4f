#pragma once
#include "wgmma/copy_tile.cuh"

// One thread of the block copies. It fills the ring with the k-tiles of this block's tiles, as consumers release the
// stages.
__device__ __forceinline__ void copy_tiles(const GemmArgs& args, const SharedMemory& shared) {
    TileWalk walk(args, shared);
    GEMM_CLEAR_RING();
    RingPosition ring;
#pragma unroll 1
    GEMM_COPY_TILES();
}
