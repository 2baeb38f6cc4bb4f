#pragma once

// A row (one k) of a tile -> the fragment of a thread. A fragment is quads of four neighbours. The lanes' quads lie
// side by side, so a warp's 16-byte loads use every bank once.
template <int kElements, int kLanes>
__device__ __forceinline__ void load_fragment(float* fragment, const float* row) {
#pragma unroll
    for (int quad = 0; quad < kElements / 4; ++quad) {
        const float4 four = *reinterpret_cast<const float4*>(row + quad * kLanes * 4);
        fragment[4 * quad] = four.x;
        fragment[4 * quad + 1] = four.y;
        fragment[4 * quad + 2] = four.z;
        fragment[4 * quad + 3] = four.w;
    }
}

// rC += rA * rB^T. Rows of sums go back and forth, so that consecutive fmas share an operand, which is then not read
// again: an fma has three operands, and the register file delivers two per cycle, one from each bank. The order of the
// columns decides how ptxas spreads the sums over the banks.
__device__ __forceinline__ void rank_1_update(float (&rC)[kThreadM][kThreadN], const float* rA, const float* rB) {
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
        for (int step = 0; step < kThreadN; ++step) {
            const int j = column_of_step(i, step);
            rC[i][j] = fmaf(rA[i], rB[j], rC[i][j]);
        }
}
