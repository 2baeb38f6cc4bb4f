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
