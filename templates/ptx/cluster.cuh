#pragma once
#if GEMM_CLUSTER > 1 || GEMM_SPLIT_CLUSTER

// Waits for all blocks of the cluster. Afterwards each sees what any of them wrote to shared memory before, and may
// overwrite what they read.
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif
