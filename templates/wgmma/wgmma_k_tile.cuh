#pragma once

// Waits until the ring's next k-tile has arrived.
__device__ __forceinline__ void wait_for_k_tile(const SharedMemory& shared, const RingPosition& ring) {
    mbarrier_wait(shared.full_barrier(ring.stage), ring.phase);
}

// Tells the producer that this warp has read a stage.
__device__ __forceinline__ void release(const SharedMemory& shared, int stage, int lane) {
#if GEMM_CLUSTER > 1
    if (lane < kCluster) mbarrier_arrive(shared.empty_barrier(stage), lane);  // at each block that fills it
#else
    if (lane == 0) mbarrier_arrive(shared.empty_barrier(stage));
#endif
}
#if GEMM_WARP_SPECIALIZED
#if !GEMM_PROMOTED

// Releases the stage of the previous k-tile, when its wgmmas have ended. Those of this k-tile may be in flight.
__device__ __forceinline__ void release_earlier(const SharedMemory& shared, int stage, int lane) {
#if !GEMM_A_IN_REGISTERS
    wgmma_wait<1>();  // for those of the previous k-tile
#endif
    release(shared, stage, lane);
}
#endif

// Waits until the next stage of the ring has been read, and announces the bytes that the copies will bring.
#if GEMM_GROUPED_BY_K
__device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const RingPosition& ring, unsigned barrier,
                                                int bytes) {
    mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);
    mbarrier_arrive_expect(barrier, bytes);
}
#else
__device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const RingPosition& ring, int bytes) {
    mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);
    mbarrier_arrive_expect(shared.full_barrier(ring.stage), bytes);
}
#endif
#endif
