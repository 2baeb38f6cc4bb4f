#pragma once

// Waits until the ring's next k-tile has arrived.
__device__ __forceinline__ void wait_for_k_tile(const SharedMemory& shared, const RingPosition& ring) {
    mbarrier_wait(shared.full_barrier(ring.stage), ring.phase);
}

// Tells the producer that this warp has read a stage.
GEMM_HOW_TO_RELEASE();
#if GEMM_WARP_SPECIALIZED
#if !GEMM_PROMOTED

// Releases the stage of the previous k-tile, when its wgmmas have ended. Those of this k-tile may be in flight.
__device__ __forceinline__ void release_earlier(const SharedMemory& shared, int stage, int lane) {
    GEMM_WAIT_FOR_PREVIOUS_K_TILE();
    release(shared, stage, lane);
}
#endif

// Waits until the next stage of the ring has been read, and announces the bytes that the copies will bring.
GEMM_HOW_TO_ANNOUNCE();
#endif
