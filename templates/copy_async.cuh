#pragma once
// cp.async: global to shared memory past the registers, kVectorBytes at a time. Out of range, nothing is read and the
// destination is zeroed; skipped, the destination stays as it is. Both are predicates of one instruction, not branches.
#include "cp_async.inl"

#if GEMM_ASYNC_K_MAJOR
// Tile (kRows, kBlockK) of a matrix contiguous along k: a row of M or N is a row of shared memory.
template <int kRows, int kPitch, int kVectorBytes>
struct AsyncCopyKMajor {
    static constexpr int kVector        = kVectorBytes / 2;                     // elements
    static constexpr int kVectorsPerRow = kBlockK / kVector;
    static constexpr int kRowsPerPass   = kThreads / kVectorsPerRow;
    static constexpr int kPasses        = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;             // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;           // elements from one pass to the next
    int rows_left;                  // rows of the matrix from this thread's row on: pass p is in range if it is over p * kRowsPerPass
    int k_left;                     // elements of K from this thread's column of the next k-tile on
    int row, column;                // of pass 0, in the tile

    __device__ __forceinline__ AsyncCopyKMajor(const Bits* matrix, long long ld, int first_row, int rows, int first_k, int k) {
        row        = threadIdx.x / kVectorsPerRow;
        column     = threadIdx.x % kVectorsPerRow * kVector;
        source     = matrix + (first_row + row) * ld + first_k + column;
        pass_pitch = kRowsPerPass * ld;
        rows_left  = rows - first_row - row;
        k_left     = k - first_k - column;
    }

    // A step of eight rows doesn't change the swizzle, so the offset of pass 0 serves all passes.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / 8) + column % 8 * 2 + (pass * kRowsPerPass - step) * kPitch;
    }

    // One of `slices` parts of the whole vectors.
    __device__ __forceinline__ void issue(unsigned stage, int slice, int slices) const {
        const bool cut       = k_left > 0 && k_left < kVector;  // left to finish()
        const int rows_whole = k_left >= kVector ? rows_left : 0;
        const Bits* vector   = source + kPasses * slice / slices * pass_pitch;
        #pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
            cp_async<kVectorBytes>(destination(stage, pass), vector, rows_whole > pass * kRowsPerPass, cut);
            vector += pass_pitch;
        }
    }

    // The vectors cut by the end of K, and on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
        if (k_left > 0 && k_left < kVector) {
            #pragma unroll 1
            for (int pass = 0; pass < kPasses; ++pass) {
                if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
                cp_async_cut<kVectorBytes>(destination(stage, pass), source + pass * pass_pitch, rows_left > pass * kRowsPerPass ? k_left * 2 : 0);
            }
        }
        source += kBlockK;
        k_left -= kBlockK;
    }
};
#endif

#if GEMM_ASYNC_MN_MAJOR
// Tile (kBlockK, kColumns) of a matrix contiguous along M or N: a row of shared memory is one k.
template <int kColumns, int kPitch, int kVectorBytes>
struct AsyncCopyMNMajor {
    static constexpr int kVector        = kVectorBytes / 2;                     // elements
    static constexpr int kVectorsPerRow = kColumns / kVector;
    static constexpr int kRowsPerPass   = kThreads / kVectorsPerRow;
    static constexpr int kPasses        = (kBlockK + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;             // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;           // elements from one pass to the next
    long long block_pitch;          // elements from one k-tile to the next
    int columns_left;               // elements of M or N from this thread's column on
    int k_left;                     // rows from this thread's row of the next k-tile on
    int row, column;                // of pass 0, in the tile

    __device__ __forceinline__ AsyncCopyMNMajor(const Bits* matrix, long long ld, int first_column, int columns, int first_k, int k) {
        row          = threadIdx.x / kVectorsPerRow;
        column       = threadIdx.x % kVectorsPerRow * kVector;
        source       = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch   = kRowsPerPass * ld;
        block_pitch  = kBlockK * ld;
        k_left       = k - first_k - row;
        columns_left = columns - first_column - column;
    }

    // A step of eight rows doesn't change the swizzle, so the offset of pass 0 serves all passes.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / 8) + column % 8 * 2 + (pass * kRowsPerPass - step) * kPitch;
    }

    // One of `slices` parts of the whole vectors.
    __device__ __forceinline__ void issue(unsigned stage, int slice, int slices) const {
        const bool cut       = columns_left > 0 && columns_left < kVector;      // left to finish()
        const int rows_whole = columns_left >= kVector ? k_left : 0;
        const Bits* vector   = source + kPasses * slice / slices * pass_pitch;
        #pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
            if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
            cp_async<kVectorBytes>(destination(stage, pass), vector, rows_whole > pass * kRowsPerPass, cut);
            vector += pass_pitch;
        }
    }

    // The vectors cut by the end of M or N, and on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
        if (columns_left > 0 && columns_left < kVector) {
            #pragma unroll 1
            for (int pass = 0; pass < kPasses; ++pass) {
                if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
                cp_async_cut<kVectorBytes>(destination(stage, pass), source + pass * pass_pitch, k_left > pass * kRowsPerPass ? columns_left * 2 : 0);
            }
        }
        source += block_pitch;
        k_left -= kBlockK;
    }
};
#endif
