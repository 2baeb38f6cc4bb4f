#pragma once
// Until the ring's next k-tile has arrived.
__device__ __forceinline__ void wait_for_k_tile(const SharedMemory& shared, const RingPosition& ring) {
    mbarrier_wait(shared.full_barrier(ring.stage), ring.phase);
}

// This warp has read a stage.
__device__ __forceinline__ void release(const SharedMemory& shared, int stage, int lane) {
#if GEMM_CLUSTER > 1
    if (lane < kCluster) mbarrier_arrive(shared.empty_barrier(stage), lane);  // of each block that copies into it
#else
    if (lane == 0) mbarrier_arrive(shared.empty_barrier(stage));
#endif
}
