#pragma once
#include "cp_async.cuh"

// A copy by cp.async, which needs no registers: global to shared memory, kVectorBytes at a time. In shared memory, a
// K-major operand has a row for each of kExtent rows (or columns) of D. Any other operand has a row for each k.
template <bool kKMajor, int kExtent, int kPitch, int kVectorBytes>
struct AsyncCopy {
    static constexpr int kRows = kKMajor ? kExtent : kBlockK;
    static constexpr int kVector = kVectorBytes / 2;  // elements
    static constexpr int kVectorsPerRow = (kKMajor ? kBlockK : kExtent) / kVector;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    long long block_pitch;  // elements from one k-tile to the next, unless K-major
    int extent_left;  // elements of M or N from this thread's vector on
    int k_left;  // elements of K from this thread's vector of the next k-tile on
    int row, column;  // of pass 0, in the tile

    __device__ __forceinline__ AsyncCopy(const Bits* matrix, long long ld, int first, int extent, int first_k, int k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * kVector;
        if constexpr (kKMajor) {
            source = matrix + (first + row) * ld + first_k + column;
            pass_pitch = kRowsPerPass * ld;
            extent_left = extent - first - row;
            k_left = k - first_k - column;
        } else {
            source = matrix + (first_k + static_cast<long long>(row)) * ld + first + column;
            pass_pitch = kRowsPerPass * ld;
            block_pitch = kBlockK * ld;
            k_left = k - first_k - row;
            extent_left = extent - first - column;
        }
    }

    // Rows and columns of the matrix that are left from this thread's vector of pass 0 on.
    __device__ __forceinline__ int rows_left() const { return kKMajor ? extent_left : k_left; }
    __device__ __forceinline__ int columns_left() const { return kKMajor ? k_left : extent_left; }

    // Passes are multiples of eight rows apart, which doesn't change the swizzle: the offset of pass 0 serves all
    // passes.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / 8) + column % 8 * 2 +
               (pass * kRowsPerPass - step) * kPitch;
    }

    // Issues one of `slices` parts of the whole vectors.
    __device__ __forceinline__ void issue(unsigned stage, int slice, int slices) const {
        const bool cut = columns_left() > 0 && columns_left() < kVector;  // finish() copies it
        const int rows_whole = columns_left() >= kVector ? rows_left() : 0;
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

    // Copies the vectors that the edge of the matrix cuts, and moves on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
        if (columns_left() > 0 && columns_left() < kVector) {
#pragma unroll 1
            for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
                if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
                cp_async_cut<kVectorBytes>(destination(stage, pass), source + pass * pass_pitch,
                                           rows_left() > pass * kRowsPerPass ? columns_left() * 2 : 0);
            }
        }
        source += kKMajor ? kBlockK : block_pitch;
        k_left -= kBlockK;
    }
};
