#pragma once
// Copies of matrices aligned to one element only, through registers: issue() loads, finish() shifts into place and stores, so
// that the mma of a k-block hide the latency between them.
#include "realign.cuh"
#if !GEMM_COPY_REGISTERS
__device__ __forceinline__ void store_shared(unsigned destination, const uint4& value) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                 ::"r"(destination), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w) : "memory");
}
#endif

#if GEMM_REALIGN_K_MAJOR
// Tile (kRows, kBlockK) of a matrix contiguous along k: a row of M or N is a row of shared memory.
template <int kRows, int kPitch>
struct RealignCopyKMajor {
    static constexpr int kVectorsPerRow = kBlockK / 8;
    static constexpr int kRowsPerPass   = kThreads / kVectorsPerRow;
    static constexpr int kPasses        = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;             // this thread's vector of pass 0 in the next k-block
    const char* begin;              // the matrix, first byte and one past the last
    const char* end;
    long long pass_pitch;           // elements from one pass to the next
    unsigned rows_in_range = 0;     // bit p: the row of pass p is inside the matrix
    int k_left;                     // elements of K from this thread's vector of the next k-block on
    int row, column;                // of pass 0, in the tile
    RawVector raw[kPasses];

    __device__ __forceinline__ RealignCopyKMajor(const Bits* matrix, long long ld, int first_row, int rows, int first_k, int k) {
        row        = threadIdx.x / kVectorsPerRow;
        column     = threadIdx.x % kVectorsPerRow * 8;
        source     = matrix + (first_row + row) * ld + first_k + column;
        begin      = reinterpret_cast<const char*>(matrix);
        end        = reinterpret_cast<const char*>(matrix + (rows - 1) * ld + k);
        pass_pitch = kRowsPerPass * ld;
        k_left     = k - first_k - column;
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass)
            rows_in_range |= (rows - first_row > row + pass * kRowsPerPass ? 1u : 0u) << pass;
    }

    // One of `slices` parts of the loads.
    __device__ __forceinline__ void issue(unsigned, int slice, int slices) {
        #pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
            raw[pass] = {};
            if ((rows_in_range >> pass & 1) && k_left > 0) raw[pass] = load_raw(source + pass * pass_pitch, begin, end);
        }
    }

    // The stores, and on to the next k-block.
    __device__ __forceinline__ void finish(unsigned stage) {
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
            if (kRows % kRowsPerPass != 0 && tile_row >= kRows) break;
            uint4 value = realign(raw[pass], source + pass * pass_pitch);
            if (k_left < 8) value = keep_first(value, k_left);
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), value);
        }
        source += kBlockK;
        k_left -= kBlockK;
    }
};
#endif

#if GEMM_REALIGN_MN_MAJOR
// Tile (kBlockK, kColumns) of a matrix contiguous along M or N: a row of shared memory is one k. What a cut vector holds
// beyond the matrix only reaches elements of D that are never stored.
template <int kColumns, int kPitch>
struct RealignCopyMNMajor {
    static constexpr int kVectorsPerRow = kColumns / 8;
    static constexpr int kRowsPerPass   = kThreads / kVectorsPerRow;
    static constexpr int kPasses        = (kBlockK + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;             // this thread's vector of pass 0 in the next k-block
    const char* begin;              // the matrix, first byte and one past the last
    const char* end;
    long long pass_pitch;           // elements from one pass to the next
    long long block_pitch;          // elements from one k-block to the next
    bool column_in_range;
    int k_left;                     // rows from the next k-block on
    int row, column;                // of pass 0, in the tile
    RawVector raw[kPasses];

    __device__ __forceinline__ RealignCopyMNMajor(const Bits* matrix, long long ld, int first_column, int columns, int first_k, int k) {
        row             = threadIdx.x / kVectorsPerRow;
        column          = threadIdx.x % kVectorsPerRow * 8;
        source          = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        begin           = reinterpret_cast<const char*>(matrix);
        end             = reinterpret_cast<const char*>(matrix + (k - 1) * ld + columns);
        pass_pitch      = kRowsPerPass * ld;
        block_pitch     = kBlockK * ld;
        k_left          = k - first_k;
        column_in_range = first_column + column < columns;
    }

    // One of `slices` parts of the loads.
    __device__ __forceinline__ void issue(unsigned, int slice, int slices) {
        #pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
            raw[pass] = {};
            if (column_in_range && row + pass * kRowsPerPass < k_left) raw[pass] = load_raw(source + pass * pass_pitch, begin, end);
        }
    }

    // The stores, and on to the next k-block.
    __device__ __forceinline__ void finish(unsigned stage) {
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
            if (kBlockK % kRowsPerPass != 0 && tile_row >= kBlockK) break;
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), realign(raw[pass], source + pass * pass_pitch));
        }
        source += block_pitch;
        k_left -= kBlockK;
    }
};
#endif
