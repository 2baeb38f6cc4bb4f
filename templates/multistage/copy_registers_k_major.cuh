#pragma once
#include "common/load_vector.cuh"
#include "common/store_shared.cuh"
// A copy through registers of a matrix aligned to 16 bytes: issue() loads vectors, finish() stores them.
// Tile (kRows, kBlockK) of a matrix contiguous along k: a row of M or N is a row of shared memory.
template <int kRows, int kPitch>
struct RegisterCopyKMajor {
    static constexpr int kVectorsPerRow = kBlockK / 8;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    int rows_left;  // rows of the matrix from this thread's row on
    int k_left;  // elements of K from this thread's vector of the next k-tile on
    int row, column;  // of pass 0, in the tile
    uint4 vector[kPasses];

    __device__ __forceinline__ RegisterCopyKMajor(const Bits* matrix, long long ld, int first_row, int rows,
                                                  int first_k, int k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * 8;
        source = matrix + (first_row + row) * ld + first_k + column;
        pass_pitch = kRowsPerPass * ld;
        rows_left = rows - first_row - row;
        k_left = k - first_k - column;
    }

    // One of `slices` parts of the loads.
    __device__ __forceinline__ void issue(unsigned, int slice, int slices) {
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass)
            vector[pass] = load_vector(source + pass * pass_pitch, rows_left > pass * kRowsPerPass ? k_left : 0);
    }

    // The stores, and on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && tile_row >= kRows) break;
#endif
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), vector[pass]);
        }
        source += kBlockK;
        k_left -= kBlockK;
    }
};
