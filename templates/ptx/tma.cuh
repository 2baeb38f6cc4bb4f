#pragma once

#if GEMM_BATCHED
// Matrices in global memory as TMA addresses them (CUtensorMap). The host encodes them at each launch.
#if GEMM_NESTED
// Their last dimensions go from one problem of the batch to the next, along both dimensions of the batch.
#else
// Their last dimension goes from one problem of the batch to the next.
#endif
struct alignas(64) EncodedTensorMap {
    unsigned long long words[16];
};
// The matrix of one problem.
struct TensorMap {
    const EncodedTensorMap* all;
    int problem;
#if GEMM_NESTED
    int outer;
#endif
};
#else
// A matrix in global memory as TMA addresses it (CUtensorMap). The host encodes it at each launch.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};
#endif

// TMA copies boxes between a tensor in global memory and shared memory. The tensor map gives the shape of a box. `x`
// counts elements along the contiguous dimension, the other coordinates along the others. Elements outside the tensor
// arrive as zeros and are not stored.
#include "tma_copies.inl"

#if GEMM_STORE_TMA
__device__ __forceinline__ void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until TMA has read all but the newest kPending groups of this thread's stores from shared memory.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

#endif
// From here on, TMA and wgmma see what this thread wrote to shared memory.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
