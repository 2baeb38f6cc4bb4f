#pragma once
// Where a thread's elements and k begin within its block's.
struct ThreadPlace {
    int m, n, k;
};

// Neighbouring lanes take neighbouring k; of the others, bit 0 goes along M and the next ones along N, so that both
// fragments' loads find pairs of lanes with one address.
__device__ __forceinline__ ThreadPlace thread_place() {
    constexpr int kPair = kWarpLanesM > 1 ? 2 : 1;
    const int lane = threadIdx.x % 32;
    const int rest = lane / kWarpLanesK;
    const int warp_k = threadIdx.x / 32 * (4 * kWarpLanesK);
    return {rest / (kPair * kWarpLanesN) * kPair + rest % kPair, rest / kPair % kWarpLanesN,
            warp_k + lane % kWarpLanesK * kLanePitchK};
}

// rC += rA * rB^T. Each row of sums goes in the opposite direction of the one before: consecutive fmas then share an
// operand, which the register file need not deliver again (its two banks deliver one register each per cycle, and an
// fma has three).
__device__ __forceinline__ void rank_1_update(float (&rC)[kThreadM][kThreadN], const float* rA, const float* rB) {
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
        for (int step = 0; step < kThreadN; ++step) {
            const int j = i % 2 == 0 ? step : kThreadN - 1 - step;
            rC[i][j] = fmaf(rA[i], rB[j], rC[i][j]);
        }
}
