#pragma once

// The first element and k of a thread in the block's tile.
struct ThreadPlace {
    int m, n, k;
};

// The low bits of a lane go along k. The next bit goes along M and the others along N: so pairs of lanes load from one
// address, for both fragments.
__device__ __forceinline__ ThreadPlace thread_place() {
    constexpr int kPair = kWarpLanesM > 1 ? 2 : 1;
    const int lane = threadIdx.x % 32;
    const int rest = lane / kWarpLanesK;
    const int warp_k = threadIdx.x / 32 * (4 * kWarpLanesK);
    return {rest / (kPair * kWarpLanesN) * kPair + rest % kPair, rest / kPair % kWarpLanesN,
            warp_k + lane % kWarpLanesK * kLanePitchK};
}

// rC += rA * rB^T. Rows of sums go back and forth, so that consecutive fmas share an operand, which is then not read
// again: an fma has three operands, and the register file delivers two per cycle, one from each bank.
__device__ __forceinline__ void rank_1_update(float (&rC)[kThreadM][kThreadN], const float* rA, const float* rB) {
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
        for (int step = 0; step < kThreadN; ++step) {
            const int j = i % 2 == 0 ? step : kThreadN - 1 - step;
            rC[i][j] = fmaf(rA[i], rB[j], rC[i][j]);
        }
}
