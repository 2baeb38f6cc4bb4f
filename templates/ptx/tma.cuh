#pragma once
// A matrix in global memory as TMA addresses it (CUtensorMap). The host encodes it at each launch.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

// Copies by TMA between a tensor in global memory and shared memory, a box at a time, the shape of which the tensor map says. `x`
// counts elements along the contiguous dimension, the other coordinates along the others. What lies outside the tensor arrives as
// zeros and is not stored.
#include "tma_copies.inl"

#if GEMM_STORE_TMA
__device__ __forceinline__ void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until no more than kPending groups of this thread's stores are still to be read from shared memory.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

#endif
// What this thread wrote to shared memory may now be read by TMA and wgmma.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
