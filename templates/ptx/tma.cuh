#pragma once
// A matrix in global memory as TMA addresses it (CUtensorMap). The host encodes it at each launch.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

// Copies by TMA between a matrix in global memory and shared memory, a box at a time, the shape of which the tensor map says. `x`
// counts elements along the matrix's contiguous extent, `y` across it. What lies outside the matrix arrives as zeros and is not
// stored.
__device__ __forceinline__ void tma_load(unsigned target, const TensorMap& map, int x, int y, unsigned full) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
            "r"(target),
        "l"(&map), "r"(x), "r"(y), "r"(full)
        : "memory");
}

#if GEMM_CLUSTER > 1
// The same into every block of the cluster whose bit in `blocks` is set: to the same address, with the barrier there.
__device__ __forceinline__ void tma_load_multicast(unsigned target, const TensorMap& map, int x, int y, unsigned full,
                                                   unsigned short blocks) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(target),
        "l"(&map), "r"(x), "r"(y), "r"(full), "h"(blocks)
        : "memory");
}

#endif
#if GEMM_STORE_TMA
__device__ __forceinline__ void tma_store(unsigned source, const TensorMap& map, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
                 "r"(y), "r"(source)
                 : "memory");
}

__device__ __forceinline__ void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until no more than kPending groups of this thread's stores are still to be read from shared memory.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

#endif
// What this thread wrote to shared memory may now be read by TMA and wgmma.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
