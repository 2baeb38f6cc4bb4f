#pragma once
// sA, sB -> registers: a thread's elements of four k.
#if GEMM_A_K_MAJOR || GEMM_B_K_MAJOR
// For a tile whose rows go along k: loads four neighbours of a row at once. Rows are kRowPitch apart.
template <int kElements, int kRowPitch>
__device__ __forceinline__ void load_k_major(float (&fragment)[4][kElements], const float* tile) {
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
        const float4 four = *reinterpret_cast<const float4*>(tile + i * kRowPitch);
        fragment[0][i] = four.x;
        fragment[1][i] = four.y;
        fragment[2][i] = four.z;
        fragment[3][i] = four.w;
    }
}
#endif
#if !GEMM_A_K_MAJOR || !GEMM_B_K_MAJOR

template <int kFloats>
struct alignas(kFloats * sizeof(float)) Piece {
    float element[kFloats];
};

// For a tile with a row for each k: loads pieces of kPiece neighbours. The pieces of kLanes lanes lie side by side.
template <int kElements, int kPiece, int kLanes, int kPitch>
__device__ __forceinline__ void load_mn_major(float (&fragment)[4][kElements], const float* tile) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int i = 0; i < kElements; i += kPiece) {
            const Piece<kPiece> piece =
                *reinterpret_cast<const Piece<kPiece>*>(tile + k * kPitchK * kPitch + i * kLanes);
#pragma unroll
            for (int j = 0; j < kPiece; ++j) fragment[k][i + j] = piece.element[j];
        }
}
#endif

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
