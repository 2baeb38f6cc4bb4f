#pragma once

// GEMM_HOW_FRAGMENTS_ARE_LOADED();
//
// GEMM_ELEMENTS_OF_LDMATRIX();
// A warp's operand for one k-block is a sequence of matrices of eight rows of a chunk. Register q of the fragment holds
// matrix q.
// Matrix q of A begins at row 16 * (q / (2 * kAtomChunks)) + 8 * (q % 2) and k kChunkElements * (q / 2 % kAtomChunks).
// Matrix q of B begins at column 8 * (q / kAtomChunks) and k kChunkElements * (q % kAtomChunks).
// GEMM_MATRICES_OF_LDMATRIX();
constexpr int kAtomChunks = kMmaK / kChunkElements;
__device__ constexpr int a_matrix_row(int q) { return q / (2 * kAtomChunks) * 16 + q % 2 * 8; }
__device__ constexpr int a_matrix_k(int q) { return q / 2 % kAtomChunks * kChunkElements; }
__device__ constexpr int b_matrix_column(int q) { return q / kAtomChunks * 8; }
__device__ constexpr int b_matrix_k(int q) { return q % kAtomChunks * kChunkElements; }
#if GEMM_LOAD_WORDS
#include "multistage/words_to_registers.cuh"
#endif

// GEMM_PARTS_OF_ADDRESS();
__device__ __forceinline__ void fragment_offsets_a(unsigned* lane_offset, int lane, int warp_row) {
#if GEMM_LOAD_WORDS && !GEMM_A_K_MAJOR
    word_offsets<kPitchA>(lane_offset, lane, warp_row);
#else
    const int q = lane / 8 % kLdmatrixA;
    GEMM_PLACE_IN_A();
#pragma unroll
    for (int c = 0; c < kChunksA; ++c) lane_offset[c] = shared_offset<kPitchA>(row, chunk + c);
#endif
}

__device__ __forceinline__ void fragment_offsets_b(unsigned* lane_offset, int lane, int warp_column) {
#if GEMM_LOAD_WORDS && !GEMM_B_K_MAJOR
    word_offsets<kPitchB>(lane_offset, lane, warp_column);
#else
    const int q = lane / 8 % kLdmatrixB;
    GEMM_PLACE_IN_B();
#pragma unroll
    for (int c = 0; c < kChunksB; ++c) lane_offset[c] = shared_offset<kPitchB>(row, chunk + c);
#endif
}

__device__ __forceinline__ void load_fragments_a(unsigned* rA, unsigned stage, const unsigned* lane_offset,
                                                 int k_block) {
#if GEMM_LOAD_WORDS && !GEMM_A_K_MAJOR
#pragma unroll
    for (int q = 0; q < kFragmentA; ++q)
        rA[q] = load_word<kPitchA>(stage, lane_offset, a_matrix_row(q), k_block * kMmaK + a_matrix_k(q));
#else
#pragma unroll
    for (int q = 0; q < kFragmentA; q += kLdmatrixA) {
        GEMM_STEP_IN_A();
        ldmatrix_a(rA + q, stage + lane_offset[chunk] + row * kPitchA);
    }
#endif
}

__device__ __forceinline__ void load_fragments_b(unsigned* rB, unsigned stage, const unsigned* lane_offset,
                                                 int k_block) {
#if GEMM_LOAD_WORDS && !GEMM_B_K_MAJOR
#pragma unroll
    for (int q = 0; q < kFragmentB; ++q)
        rB[q] = load_word<kPitchB>(stage, lane_offset, b_matrix_column(q), k_block * kMmaK + b_matrix_k(q));
#else
#pragma unroll
    for (int q = 0; q < kFragmentB; q += kLdmatrixB) {
        GEMM_STEP_IN_B();
        ldmatrix_b(rB + q, stage + lane_offset[chunk] + row * kPitchB);
    }
#endif
}

#if GEMM_ELEMENT_BYTES == 4
#include "multistage/multiply_words.cuh"
#endif
#if !GEMM_PARTS

// Goes through n back and forth: consecutive mmas share an operand at the turns, too.
__device__ __forceinline__ void mma_warp_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const unsigned* rA,
                                              const unsigned* rB) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int step = 0; step < kTilesN; ++step) {
            const int j = i % 2 == 0 ? step : kTilesN - 1 - step;
            mma(rC[i][j], rA + i * kRegistersA, rB + j * kRegistersB);
        }
}
#endif
