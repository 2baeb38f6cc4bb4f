#pragma once
// mbarriers: 8 bytes of shared memory each, by address. A phase ends when all arrivals that it was initialised with have come,
// and all bytes that were announced; phases alternate between parity 0 and 1, and of a fresh barrier "the one before" has
// parity 1.
__device__ __forceinline__ void mbarrier_init(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Until the phase of that parity has ended.
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

// One arrival, and so many bytes that TMA will write before the phase ends.
__device__ __forceinline__ void mbarrier_arrive_expect(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

#if GEMM_MBARRIER_ARRIVE && GEMM_CLUSTER > 1
// One arrival at the barrier that lies at this address in another block of the cluster.
__device__ __forceinline__ void mbarrier_arrive(unsigned barrier, unsigned block) {
    asm volatile(
        "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::
            "r"(barrier),
        "r"(block)
        : "memory");
}
#elif GEMM_MBARRIER_ARRIVE
__device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
#endif
