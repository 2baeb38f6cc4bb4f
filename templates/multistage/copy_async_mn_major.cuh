#pragma once
#include "cp_async.cuh"
// A copy by cp.async, which passes the registers by: global to shared memory, kVectorBytes at a time.
// Tile (kBlockK, kColumns) of a matrix contiguous along M or N: a row of shared memory is one k.
template <int kColumns, int kPitch, int kVectorBytes>
struct AsyncCopyMNMajor {
    static constexpr int kVector = kVectorBytes / 2;  // elements
    static constexpr int kVectorsPerRow = kColumns / kVector;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kBlockK + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    long long block_pitch;  // elements from one k-tile to the next
    int columns_left;  // elements of M or N from this thread's column on
    int k_left;  // rows from this thread's row of the next k-tile on
    int row, column;  // of pass 0, in the tile

    __device__ __forceinline__ AsyncCopyMNMajor(const Bits* matrix, long long ld, int first_column, int columns,
                                                int first_k, int k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * kVector;
        source = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch = kRowsPerPass * ld;
        block_pitch = kBlockK * ld;
        k_left = k - first_k - row;
        columns_left = columns - first_column - column;
    }

    // A step of eight rows doesn't change the swizzle, so the offset of pass 0 serves all passes.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / 8) + column % 8 * 2 +
               (pass * kRowsPerPass - step) * kPitch;
    }

    // One of `slices` parts of the whole vectors.
    __device__ __forceinline__ void issue(unsigned stage, int slice, int slices) const {
        const bool cut = columns_left > 0 && columns_left < kVector;  // left to finish()
        const int rows_whole = columns_left >= kVector ? k_left : 0;
        const Bits* vector = source + kPasses * slice / slices * pass_pitch;
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
#endif
            cp_async<kVectorBytes>(destination(stage, pass), vector, rows_whole > pass * kRowsPerPass, cut);
            vector += pass_pitch;
        }
    }

    // The vectors cut by the end of M or N, and on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
        if (columns_left > 0 && columns_left < kVector) {
#pragma unroll 1
            for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
                if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
#endif
                cp_async_cut<kVectorBytes>(destination(stage, pass), source + pass * pass_pitch,
                                           k_left > pass * kRowsPerPass ? columns_left * 2 : 0);
            }
        }
        source += block_pitch;
        k_left -= kBlockK;
    }
};
