#pragma once

// sA, sB -> rA, rB with wmma.load, and the wmma.mma of one warp tile. wmma.load takes the address of a fragment's first
// element. The hardware decides which lane gets which elements.

constexpr int kElementBytes = sizeof(Bits);

// Bytes from the start of a stage to element (row, k) of A, (column, k) of B.
__device__ constexpr int fragment_offset_a(int row, int k) {
#if GEMM_A_K_MAJOR
    return row * kPitchA + k * kElementBytes;  // sA is (m, k)
#else
    return k * kPitchA + row * kElementBytes;  // sA is (k, m)
#endif
}

__device__ constexpr int fragment_offset_b(int column, int k) {
#if GEMM_B_K_MAJOR
    return column * kPitchB + k * kElementBytes;  // sB is (n, k)
#else
    return k * kPitchB + column * kElementBytes;  // sB is (k, n)
#endif
}

// Loads the fragments of one k-block, from the i-th on. Addresses differ from a common one by constants, which the
// instruction adds.
template <int i = 0>
__device__ __forceinline__ void load_fragments_a(unsigned (&rA)[kTilesM][kRegistersA], unsigned k_block_a) {
    load_fragment_a<fragment_offset_a(i * kMmaM, 0)>(rA[i], k_block_a);
    if constexpr (i + 1 < kTilesM) load_fragments_a<i + 1>(rA, k_block_a);
}

template <int j = 0>
__device__ __forceinline__ void load_fragments_b(unsigned (&rB)[kTilesN][kRegistersB], unsigned k_block_b) {
    load_fragment_b<fragment_offset_b(j * kMmaN, 0)>(rB[j], k_block_b);
    if constexpr (j + 1 < kTilesN) load_fragments_b<j + 1>(rB, k_block_b);
}

// Loads a k-block of this warp's rows of A and columns of B. The addresses are those of a stage's first k.
__device__ __forceinline__ void load_k_block(unsigned (&rA)[kTilesM][kRegistersA], unsigned (&rB)[kTilesN][kRegistersB],
                                             unsigned warp_a, unsigned warp_b, int k_block) {
    load_fragments_a(rA, warp_a + fragment_offset_a(0, k_block * kMmaK));
    load_fragments_b(rB, warp_b + fragment_offset_b(0, k_block * kMmaK));
}

// Goes through n back and forth: consecutive wmmas share an operand at the turns, too.
__device__ __forceinline__ void mma_warp_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                              const unsigned (&rA)[kTilesM][kRegistersA],
                                              const unsigned (&rB)[kTilesN][kRegistersB]) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int step = 0; step < kTilesN; ++step) {
            const int j = i % 2 == 0 ? step : kTilesN - 1 - step;
            mma(rC[i][j], rA[i], rB[j]);
        }
}
#if GEMM_STAGES == 1 || !GEMM_DOUBLE_BUFFER

// Multiplies all k-blocks of a k-tile that has landed.
__device__ __forceinline__ void mma_k_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], unsigned warp_a,
                                           unsigned warp_b) {
#if GEMM_DOUBLE_BUFFER
    unsigned rA[2][kTilesM][kRegistersA];  // fragments of this k-block and of the next
    unsigned rB[2][kTilesN][kRegistersB];
    load_k_block(rA[0], rB[0], warp_a, warp_b, 0);
#pragma unroll
    for (int k_block = 0; k_block < kKBlocks; ++k_block) {
        if (k_block + 1 < kKBlocks)
            load_k_block(rA[(k_block + 1) % 2], rB[(k_block + 1) % 2], warp_a, warp_b, k_block + 1);
        mma_warp_tile(rC, rA[k_block % 2], rB[k_block % 2]);
    }
#else
    unsigned rA[kTilesM][kRegistersA];  // fragments of one k-block
    unsigned rB[kTilesN][kRegistersB];
#pragma unroll
    for (int k_block = 0; k_block < kKBlocks; ++k_block) {
        load_k_block(rA, rB, warp_a, warp_b, k_block);
        mma_warp_tile(rC, rA, rB);
    }
#endif
}
#endif
