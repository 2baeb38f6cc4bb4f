#pragma once
// Blocks of a cluster: what any of them wrote to shared memory before this, all of them see after it; what it read, it has.
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
