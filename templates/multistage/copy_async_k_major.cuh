#pragma once
#include "cp_async.cuh"
// A copy by cp.async, which passes the registers by: global to shared memory, kVectorBytes at a time.
// Tile (kRows, kBlockK) of a matrix contiguous along k: a row of M or N is a row of shared memory.
template <int kRows, int kPitch, int kVectorBytes>
struct AsyncCopyKMajor {
    static constexpr int kVector = kVectorBytes / 2;  // elements
    static constexpr int kVectorsPerRow = kBlockK / kVector;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    int rows_left;  // rows of the matrix from this thread's row on: pass p is in range if it is over p * kRowsPerPass
    int k_left;  // elements of K from this thread's column of the next k-tile on
    int row, column;  // of pass 0, in the tile

    __device__ __forceinline__ AsyncCopyKMajor(const Bits* matrix, long long ld, int first_row, int rows, int first_k,
                                               int k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * kVector;
        source = matrix + (first_row + row) * ld + first_k + column;
        pass_pitch = kRowsPerPass * ld;
        rows_left = rows - first_row - row;
        k_left = k - first_k - column;
    }

    // A step of eight rows doesn't change the swizzle, so the offset of pass 0 serves all passes.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / 8) + column % 8 * 2 +
               (pass * kRowsPerPass - step) * kPitch;
    }

    // One of `slices` parts of the whole vectors.
    __device__ __forceinline__ void issue(unsigned stage, int slice, int slices) const {
        const bool cut = k_left > 0 && k_left < kVector;  // left to finish()
        const int rows_whole = k_left >= kVector ? rows_left : 0;
        const Bits* vector = source + kPasses * slice / slices * pass_pitch;
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            cp_async<kVectorBytes>(destination(stage, pass), vector, rows_whole > pass * kRowsPerPass, cut);
            vector += pass_pitch;
        }
    }

    // The vectors cut by the end of K, and on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
        if (k_left > 0 && k_left < kVector) {
#pragma unroll 1
            for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
                if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
                cp_async_cut<kVectorBytes>(destination(stage, pass), source + pass * pass_pitch,
                                           rows_left > pass * kRowsPerPass ? k_left * 2 : 0);
            }
        }
        source += kBlockK;
        k_left -= kBlockK;
    }
};
