#pragma once
#include "common/load_vector.cuh"
#include "common/store_shared.cuh"
// A copy through registers of a matrix aligned to 16 bytes: issue() loads vectors, finish() stores them.
// Tile (kBlockK, kColumns) of a matrix contiguous along M or N: a row of shared memory is one k.
template <int kColumns, int kPitch>
struct RegisterCopyMNMajor {
    static constexpr int kVectorsPerRow = kColumns / 8;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kBlockK + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    long long block_pitch;  // elements from one k-tile to the next
    int columns_left;  // elements of M or N from this thread's vector on
    int k_left;  // rows from this thread's row of the next k-tile on
    int row, column;  // of pass 0, in the tile
    uint4 vector[kPasses];

    __device__ __forceinline__ RegisterCopyMNMajor(const Bits* matrix, long long ld, int first_column, int columns,
                                                   int first_k, int k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * 8;
        source = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch = kRowsPerPass * ld;
        block_pitch = kBlockK * ld;
        k_left = k - first_k - row;
        columns_left = columns - first_column - column;
    }

    // One of `slices` parts of the loads.
    __device__ __forceinline__ void issue(unsigned, int slice, int slices) {
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass)
            vector[pass] = load_vector(source + pass * pass_pitch, k_left > pass * kRowsPerPass ? columns_left : 0);
    }

    // The stores, and on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
#if GEMM_PASS_RESIDUE
            if (kBlockK % kRowsPerPass != 0 && tile_row >= kBlockK) break;
#endif
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), vector[pass]);
        }
        source += block_pitch;
        k_left -= kBlockK;
    }
};
