#pragma once
#include "common/store_shared.cuh"

// Reads the first `elements` of eight: only these lie inside the matrix. The others become zero.
__device__ __forceinline__ uint4 load_vector(const Bits* source, int elements) {
    if (elements >= 8) return *reinterpret_cast<const uint4*>(source);
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i)
        if (i < elements) words[i / 2] |= static_cast<unsigned>(source[i]) << i % 2 * 16;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// A copy through registers of a matrix aligned to 16 bytes: issue() loads vectors, finish() stores them. In shared
// memory, a K-major operand has a row for each of kExtent rows (or columns) of D. Any other operand has a row for each
// k.
template <bool kKMajor, int kExtent, int kPitch>
struct RegisterCopy {
    static constexpr int kRows = kKMajor ? kExtent : kBlockK;
    static constexpr int kVectorsPerRow = (kKMajor ? kBlockK : kExtent) / 8;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    long long block_pitch;  // elements from one k-tile to the next, unless K-major
    int extent_left;  // elements of M or N from this thread's vector on
    int k_left;  // elements of K from this thread's vector of the next k-tile on
    int row, column;  // of pass 0, in the tile
    uint4 vector[kPasses];

    __device__ __forceinline__ RegisterCopy(const Bits* matrix, long long ld, int first, int extent, int first_k,
                                            int k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * 8;
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

    // Issues one of `slices` parts of the loads.
    __device__ __forceinline__ void issue(unsigned, int slice, int slices) {
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass)
            vector[pass] =
                load_vector(source + pass * pass_pitch, rows_left() > pass * kRowsPerPass ? columns_left() : 0);
    }

    // Stores the vectors, and moves on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && tile_row >= kRows) break;
#endif
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), vector[pass]);
        }
        source += kKMajor ? kBlockK : block_pitch;
        k_left -= kBlockK;
    }
};
