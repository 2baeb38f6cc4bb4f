#pragma once
// Copies through registers of matrices aligned to 16 bytes: issue() loads vectors, finish() stores them.
__device__ __forceinline__ void store_shared(unsigned destination, const uint4& value) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                 ::"r"(destination), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w) : "memory");
}

// Eight elements, of which only the first `elements` lie inside the matrix: the others are not read but zero.
__device__ __forceinline__ uint4 load_vector(const Bits* source, int elements) {
    if (elements >= 8) return *reinterpret_cast<const uint4*>(source);
    unsigned words[4] = {};
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        if (i < elements) words[i / 2] |= static_cast<unsigned>(source[i]) << i % 2 * 16;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

#if GEMM_REGISTERS_K_MAJOR
// Tile (kRows, kBlockK) of a matrix contiguous along k: a row of M or N is a row of shared memory.
template <int kRows, int kPitch>
struct RegisterCopyKMajor {
    static constexpr int kVectorsPerRow = kBlockK / 8;
    static constexpr int kRowsPerPass   = kThreads / kVectorsPerRow;
    static constexpr int kPasses        = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;             // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;           // elements from one pass to the next
    int rows_left;                  // rows of the matrix from this thread's row on
    int k_left;                     // elements of K from this thread's vector of the next k-tile on
    int row, column;                // of pass 0, in the tile
    uint4 vector[kPasses];

    __device__ __forceinline__ RegisterCopyKMajor(const Bits* matrix, long long ld, int first_row, int rows, int first_k, int k) {
        row        = threadIdx.x / kVectorsPerRow;
        column     = threadIdx.x % kVectorsPerRow * 8;
        source     = matrix + (first_row + row) * ld + first_k + column;
        pass_pitch = kRowsPerPass * ld;
        rows_left  = rows - first_row - row;
        k_left     = k - first_k - column;
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
            if (kRows % kRowsPerPass != 0 && tile_row >= kRows) break;
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), vector[pass]);
        }
        source += kBlockK;
        k_left -= kBlockK;
    }
};
#endif

#if GEMM_REGISTERS_MN_MAJOR
// Tile (kBlockK, kColumns) of a matrix contiguous along M or N: a row of shared memory is one k.
template <int kColumns, int kPitch>
struct RegisterCopyMNMajor {
    static constexpr int kVectorsPerRow = kColumns / 8;
    static constexpr int kRowsPerPass   = kThreads / kVectorsPerRow;
    static constexpr int kPasses        = (kBlockK + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;             // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;           // elements from one pass to the next
    long long block_pitch;          // elements from one k-tile to the next
    int columns_left;               // elements of M or N from this thread's vector on
    int k_left;                     // rows from this thread's row of the next k-tile on
    int row, column;                // of pass 0, in the tile
    uint4 vector[kPasses];

    __device__ __forceinline__ RegisterCopyMNMajor(const Bits* matrix, long long ld, int first_column, int columns, int first_k, int k) {
        row          = threadIdx.x / kVectorsPerRow;
        column       = threadIdx.x % kVectorsPerRow * 8;
        source       = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch   = kRowsPerPass * ld;
        block_pitch  = kBlockK * ld;
        k_left       = k - first_k - row;
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
            if (kBlockK % kRowsPerPass != 0 && tile_row >= kBlockK) break;
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), vector[pass]);
        }
        source += block_pitch;
        k_left -= kBlockK;
    }
};
#endif
