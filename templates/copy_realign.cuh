#pragma once
// Copies of matrices aligned to one element only (odd leading dimensions): too little for cp.async. A vector of 16 bytes
// that starts anywhere lies in two aligned chunks; both are loaded whole, shifted together in registers and stored to shared
// memory as one. issue() loads, finish() shifts and stores, so that the mma of a k-block hide the latency between them.
struct RawVector {
    uint4 low, high;                // the aligned chunk the vector starts in, and the one behind it
};

// Loads one aligned chunk of which only the bytes in [begin, end) may be touched.
__device__ __forceinline__ uint4 load_chunk_at_edge(const char* chunk, const char* begin, const char* end) {
    unsigned words[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        const char* half[2] = {chunk + 4 * i, chunk + 4 * i + 2};
        unsigned element[2];
        #pragma unroll
        for (int h = 0; h < 2; ++h)
            element[h] = half[h] >= begin && half[h] < end ? *reinterpret_cast<const Bits*>(half[h]) : 0;
        words[i] = element[0] | element[1] << 16;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ RawVector load_raw(const Bits* source, const char* begin, const char* end) {
    const char* chunk = reinterpret_cast<const char*>(reinterpret_cast<unsigned long long>(source) & ~15ull);
    if (chunk >= begin && chunk + 32 <= end)
        return {*reinterpret_cast<const uint4*>(chunk), *reinterpret_cast<const uint4*>(chunk + 16)};
    return {load_chunk_at_edge(chunk, begin, end), load_chunk_at_edge(chunk + 16, begin, end)};
}

// The 16 bytes that start `misalignment` (even, 0 to 14) bytes into the raw vector: a barrel shifter of 8, 4, 2 bytes.
__device__ __forceinline__ uint4 realign(const RawVector& raw, unsigned misalignment) {
    const unsigned w[8] = {raw.low.x, raw.low.y, raw.low.z, raw.low.w, raw.high.x, raw.high.y, raw.high.z, raw.high.w};
    unsigned by8[6], by4[5], by2[4];
    #pragma unroll
    for (int i = 0; i < 6; ++i) by8[i] = misalignment & 8 ? w[i + 2] : w[i];
    #pragma unroll
    for (int i = 0; i < 5; ++i) by4[i] = misalignment & 4 ? by8[i + 1] : by8[i];
    #pragma unroll
    for (int i = 0; i < 4; ++i) by2[i] = __funnelshift_r(by4[i], by4[i + 1], (misalignment & 2) * 8);
    return make_uint4(by2[0], by2[1], by2[2], by2[3]);
}

__device__ __forceinline__ void store_shared(unsigned destination, const uint4& value) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                 ::"r"(destination), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w) : "memory");
}

#if GEMM_REALIGN_K_MAJOR
// Keeps the first `elements` of eight, zeros the rest: the end of K, where whatever lies behind must not count.
__device__ __forceinline__ uint4 keep_first(const uint4& value, int elements) {
    unsigned w[4] = {value.x, value.y, value.z, value.w};
    #pragma unroll
    for (int i = 0; i < 4; ++i)
        w[i] = elements >= 2 * i + 2 ? w[i] : elements == 2 * i + 1 ? w[i] & 0xffffu : 0;
    return make_uint4(w[0], w[1], w[2], w[3]);
}

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

    __device__ __forceinline__ void issue(unsigned) {
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            raw[pass] = {};
            if ((rows_in_range >> pass & 1) && k_left > 0) raw[pass] = load_raw(source + pass * pass_pitch, begin, end);
        }
        source += kBlockK;
        k_left -= kBlockK;
    }

    __device__ __forceinline__ void finish(unsigned stage) {
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
            if (kRows % kRowsPerPass != 0 && tile_row >= kRows) break;
            // A k-block is a multiple of 16 bytes, so the misalignment of the next one is that of the one loaded.
            const unsigned misalignment = static_cast<unsigned>(reinterpret_cast<unsigned long long>(source + pass * pass_pitch)) & 15u;
            uint4 value = realign(raw[pass], misalignment);
            if (k_left < 8 - kBlockK) value = keep_first(value, k_left + kBlockK);
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), value);
        }
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

    __device__ __forceinline__ void issue(unsigned) {
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            raw[pass] = {};
            if (column_in_range && row + pass * kRowsPerPass < k_left) raw[pass] = load_raw(source + pass * pass_pitch, begin, end);
        }
        source += block_pitch;
        k_left -= kBlockK;
    }

    __device__ __forceinline__ void finish(unsigned stage) {
        #pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int tile_row = row + pass * kRowsPerPass;
            if (kBlockK % kRowsPerPass != 0 && tile_row >= kBlockK) break;
            const Bits* loaded          = source - block_pitch + pass * pass_pitch;
            const unsigned misalignment = static_cast<unsigned>(reinterpret_cast<unsigned long long>(loaded)) & 15u;
            store_shared(stage + shared_offset<kPitch>(tile_row, column / 8), realign(raw[pass], misalignment));
        }
    }
};
#endif
