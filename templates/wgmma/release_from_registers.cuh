#pragma once
#include "wgmma/wgmma_k_tile.cuh"

// Releases the stage of the previous k-tile. `multiply` has waited for its wgmmas.
__device__ __forceinline__ void release_earlier(const SharedMemory& shared, int stage, int lane) {
    release(shared, stage, lane);
}
