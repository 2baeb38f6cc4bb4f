#pragma once
#include "wgmma/wgmma_k_tile.cuh"

// Releases the stage of the previous k-tile when its wgmmas are done. Wgmmas of the last group may be in flight.
__device__ __forceinline__ void release_earlier(const SharedMemory& shared, int stage, int lane) {
    wgmma_wait<1>();  // for those of the previous k-tile
    release(shared, stage, lane);
}
