#pragma once

// An mbarrier is 8 bytes of shared memory, given by address. A phase ends when all its arrivals and all announced bytes
// have come. Phases have parity 0 and 1 in turn. For a fresh barrier, the phase of parity 1 counts as ended.
__device__ __forceinline__ void mbarrier_init(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Waits until the phase of this parity has ended.
__device__ __forceinline__ void mbarrier_wait(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

// Arrives, and announces the bytes that TMA will write before the phase ends.
__device__ __forceinline__ void mbarrier_arrive_expect(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

#if GEMM_MBARRIER_ARRIVE && GEMM_CLUSTER > 1
// Arrives at the barrier with this address in another block of the cluster.
__device__ __forceinline__ void mbarrier_arrive(unsigned barrier, unsigned block) {
    asm volatile(
        "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
        "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
        "r"(block)
        : "memory");
}
#elif GEMM_MBARRIER_ARRIVE
__device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
#endif
