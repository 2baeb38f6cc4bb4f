#pragma once

#if GEMM_LOAD_WORDS && !GEMM_A_K_MAJOR && !GEMM_B_K_MAJOR
// sA, sB -> rA, rB word by word, and the mma of one warp tile.
#else
// sA, sB -> rA, rB with ldmatrix, and the mma of one warp tile.
#endif
//
#if GEMM_ELEMENT_BYTES == 1
// ldmatrix moves elements of 16 bits: each is a pair of neighbours along k.
#elif GEMM_ELEMENT_BYTES == 4 && (GEMM_A_K_MAJOR || GEMM_B_K_MAJOR)
// ldmatrix moves elements of 16 bits: each is a half of one of f32.
#endif
// A warp's operand for one k-block is a sequence of matrices of eight rows of a chunk. Register q of the fragment holds
// matrix q.
// Matrix q of A begins at row 16 * (q / (2 * kAtomChunks)) + 8 * (q % 2) and k kChunkElements * (q / 2 % kAtomChunks).
// Matrix q of B begins at column 8 * (q / kAtomChunks) and k kChunkElements * (q % kAtomChunks).
#if !GEMM_LOAD_WORDS
// One ldmatrix loads kLdmatrixA (kLdmatrixB) matrices. Lane l gives the address of row l % 8 of matrix l / 8.
#elif GEMM_A_K_MAJOR
// One ldmatrix loads kLdmatrixA matrices of A. Lane l gives the address of row l % 8 of matrix l / 8.
#elif GEMM_B_K_MAJOR
// One ldmatrix loads kLdmatrixB matrices of B. Lane l gives the address of row l % 8 of matrix l / 8.
#endif
constexpr int kAtomChunks = kMmaK / kChunkElements;
__device__ constexpr int a_matrix_row(int q) { return q / (2 * kAtomChunks) * 16 + q % 2 * 8; }
__device__ constexpr int a_matrix_k(int q) { return q / 2 % kAtomChunks * kChunkElements; }
__device__ constexpr int b_matrix_column(int q) { return q / kAtomChunks * 8; }
__device__ constexpr int b_matrix_k(int q) { return q % kAtomChunks * kChunkElements; }
#if GEMM_LOAD_WORDS
#include "multistage/words_to_registers.cuh"
#endif

#if !GEMM_LOAD_WORDS || GEMM_A_K_MAJOR || GEMM_B_K_MAJOR
// The address of a matrix that ldmatrix loads has two parts. Steps across rows are multiples of eight rows: the swizzle
// repeats there, so they are constants. Steps along a row change the swizzle, so a lane keeps one offset per chunk.
#endif
__device__ __forceinline__ void fragment_offsets_a(unsigned* lane_offset, int lane, int warp_row) {
#if GEMM_LOAD_WORDS && !GEMM_A_K_MAJOR
    word_offsets<kPitchA>(lane_offset, lane, warp_row);
#else
    const int q = lane / 8 % kLdmatrixA;
#if GEMM_A_K_MAJOR
    const int row = warp_row + a_matrix_row(q) + lane % 8;  // sA is (m, k)
    const int chunk = a_matrix_k(q) / kChunkElements;
#else
    const int row = a_matrix_k(q) + lane % 8;  // sA is (k, m): ldmatrix transposes
    const int chunk = (warp_row + a_matrix_row(q)) / kChunkElements;
#endif
#pragma unroll
    for (int c = 0; c < kChunksA; ++c) lane_offset[c] = shared_offset<kPitchA>(row, chunk + c);
#endif
}

__device__ __forceinline__ void fragment_offsets_b(unsigned* lane_offset, int lane, int warp_column) {
#if GEMM_LOAD_WORDS && !GEMM_B_K_MAJOR
    word_offsets<kPitchB>(lane_offset, lane, warp_column);
#else
    const int q = lane / 8 % kLdmatrixB;
#if GEMM_B_K_MAJOR
    const int row = warp_column + b_matrix_column(q) + lane % 8;  // sB is (n, k)
    const int chunk = b_matrix_k(q) / kChunkElements;
#else
    const int row = b_matrix_k(q) + lane % 8;  // sB is (k, n): ldmatrix transposes
    const int chunk = (warp_column + b_matrix_column(q)) / kChunkElements;
#endif
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
#if GEMM_A_K_MAJOR
        const int chunk = (k_block * kMmaK + a_matrix_k(q)) / kChunkElements;
        const int row = a_matrix_row(q);
#else
        const int chunk = a_matrix_row(q) / kChunkElements;
        const int row = k_block * kMmaK + a_matrix_k(q);
#endif
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
#if GEMM_B_K_MAJOR
        const int chunk = (k_block * kMmaK + b_matrix_k(q)) / kChunkElements;
        const int row = b_matrix_column(q);
#else
        const int chunk = b_matrix_column(q) / kChunkElements;
        const int row = k_block * kMmaK + b_matrix_k(q);
#endif
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
