#pragma once
// cp.async: global to shared memory past the registers, kVectorBytes at a time.
template <int kVectorBytes>
__device__ __forceinline__ void cp_async(unsigned destination, const Bits* source, bool in_range) {
#if GEMM_COPY_16
    if constexpr (kVectorBytes == 16)
        asm volatile("{ .reg .pred ignore; setp.eq.s32 ignore, %2, 0; cp.async.cg.shared.global.L2::128B [%0], [%1], 16, ignore; }"
                     ::"r"(destination), "l"(source), "r"(static_cast<int>(in_range)) : "memory");
#endif
#if GEMM_COPY_NARROW
    if constexpr (kVectorBytes < 16)
        asm volatile("{ .reg .pred ignore; setp.eq.s32 ignore, %2, 0; cp.async.ca.shared.global.L2::128B [%0], [%1], %3, ignore; }"
                     ::"r"(destination), "l"(source), "r"(static_cast<int>(in_range)), "n"(kVectorBytes) : "memory");
#endif
}

// The same for a vector cut by the edge of the matrix: only the first `bytes` are read, the rest is zero.
template <int kVectorBytes>
__device__ __forceinline__ void cp_async_cut(unsigned destination, const Bits* source, int bytes) {
#if GEMM_COPY_16
    if constexpr (kVectorBytes == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(destination), "l"(source), "r"(bytes) : "memory");
#endif
#if GEMM_COPY_NARROW
    if constexpr (kVectorBytes < 16)
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %3, %2;"
                     ::"r"(destination), "l"(source), "r"(bytes), "n"(kVectorBytes) : "memory");
#endif
}

#if GEMM_ASYNC_K_MAJOR
// Tile (kRows, kBlockK) of a matrix contiguous along k: a row of M or N is a row of shared memory.
template <int kRows, int kPitch, int kVectorBytes>
struct AsyncCopyKMajor {
    static constexpr int kVector        = kVectorBytes / 2;                     // elements
    static constexpr int kVectorsPerRow = kBlockK / kVector;
    static constexpr int kRowsPerPass   = kThreads / kVectorsPerRow;
    static constexpr int kPasses        = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;             // this thread's vector of pass 0 in the next k-block
    long long pass_pitch;           // elements from one pass to the next
    unsigned rows_in_range = 0;     // bit p: the row of pass p is inside the matrix
    int k_left;                     // elements of K from the next k-block on
    int row, column;                // of pass 0, in the tile

    __device__ __forceinline__ AsyncCopyKMajor(const Bits* matrix, long long ld, int first_row, int rows, int first_k, int k) {
        row        = threadIdx.x / kVectorsPerRow;
        column     = threadIdx.x % kVectorsPerRow * kVector;
        source     = matrix + (first_row + row) * ld + first_k + column;
        pass_pitch = kRowsPerPass * ld;
        k_left     = k - first_k;
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass)
            rows_in_range |= (rows - first_row > row + pass * kRowsPerPass ? 1u : 0u) << pass;
    }

    __device__ __forceinline__ void issue(unsigned stage) {
        const int bytes = clamp(k_left - column, 0, kVector) * 2;
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
            if (kRows % kRowsPerPass != 0 && tile_row >= kRows) break;
            const unsigned destination = stage + shared_offset<kPitch>(tile_row, column / 8) + column % 8 * 2;
            const bool in_range        = rows_in_range >> pass & 1;
            if (k_left >= kBlockK)
                cp_async<kVectorBytes>(destination, source + pass * pass_pitch, in_range);
            else
                cp_async_cut<kVectorBytes>(destination, source + pass * pass_pitch, in_range ? bytes : 0);
        }
        source += kBlockK;
        k_left -= kBlockK;
    }

    __device__ __forceinline__ void finish(unsigned) {}         // cp.async needs no second half
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

    const Bits* source;             // this thread's vector of pass 0 in the next k-block
    long long pass_pitch;           // elements from one pass to the next
    long long block_pitch;          // elements from one k-block to the next
    int bytes;                      // of this thread's vectors that are inside the matrix
    int k_left;                     // rows from the next k-block on
    int row, column;                // of pass 0, in the tile
    bool cut;                       // some vector of this tile is cut by the matrix edge; the same for the whole block

    __device__ __forceinline__ AsyncCopyMNMajor(const Bits* matrix, long long ld, int first_column, int columns, int first_k, int k) {
        row         = threadIdx.x / kVectorsPerRow;
        column      = threadIdx.x % kVectorsPerRow * kVector;
        source      = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch  = kRowsPerPass * ld;
        block_pitch = kBlockK * ld;
        k_left      = k - first_k;
        bytes       = clamp(columns - first_column - column, 0, kVector) * 2;
        cut         = columns - first_column < kColumns && columns % kVector != 0;
    }

    __device__ __forceinline__ void issue(unsigned stage) {
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
            if (kBlockK % kRowsPerPass != 0 && tile_row >= kBlockK) break;
            const unsigned destination = stage + shared_offset<kPitch>(tile_row, column / 8) + column % 8 * 2;
            const bool in_range        = bytes > 0 && tile_row < k_left;
            if (!cut)
                cp_async<kVectorBytes>(destination, source + pass * pass_pitch, in_range);
            else
                cp_async_cut<kVectorBytes>(destination, source + pass * pass_pitch, in_range ? bytes : 0);
        }
        source += block_pitch;
        k_left -= kBlockK;
    }

    __device__ __forceinline__ void finish(unsigned) {}         // cp.async needs no second half
};
#endif
