// Those of matrices.
__device__ __forceinline__ void tma_load(unsigned target, const TensorMap& map, int x, int y, unsigned full) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(target),
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
#endif
