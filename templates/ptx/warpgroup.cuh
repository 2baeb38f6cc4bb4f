#pragma once

// A warpgroup is four warps that issue wgmma together. A fence stands between other writes to a register and the first
// wgmma that uses it. Operands and sums of a committed group may be touched again when the group is no longer pending.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#if GEMM_PROMOTED
// Waits until at most kPending groups are in flight: a wave's sums are there. The empty asm names each sum, so that the
// compiler uses none before.
template <int kPending>
__device__ __forceinline__ void wgmma_wait_for(Accumulator (&sums)[kWaveN / 8][kRegistersC]) {
    wgmma_wait<kPending>();
#pragma unroll
    for (int j = 0; j < kWaveN / 8; ++j)
#pragma unroll
        for (int r = 0; r < kRegistersC; ++r) asm volatile("" : "+f"(sums[j][r])::"memory");
}

#elif !GEMM_OVERLAPPED
// Waits for all wgmmas: the sums are there. The empty asm names each sum, so that the compiler uses none before.
__device__ __forceinline__ void wgmma_wait_for(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
#pragma unroll
            GEMM_NAME_SUMS();
}

#endif
#if GEMM_SETMAXNREG
// Sets the registers per thread of a warpgroup. The producer gives up registers, which the consumers take.
template <int kRegisters>
__device__ __forceinline__ void give_up_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

#endif
// True for one lane of the warp.
__device__ __forceinline__ bool elect_one() {
    unsigned elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
    return elected != 0;
}
