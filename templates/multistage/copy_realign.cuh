#pragma once
#include "common/realign.cuh"
#include "common/store_shared.cuh"

// A copy through registers of a matrix that is aligned to one element only. issue() loads. finish() shifts vectors into
// place and stores them. The mmas of a k-tile run between the two and hide the latency. Both treat all vectors alike,
// without a branch. The end of K cuts a few vectors, and a few lie near the ends of the matrix: mend() writes these
// again, one by one. In shared memory, a K-major operand has a row for each of kExtent rows (or columns) of D. Any
// other operand has a row for each k.
template <bool kKMajor, int kExtent, int kPitch>
struct RealignCopy {
    static constexpr int kRows = kKMajor ? kExtent : kBlockK;
    static constexpr int kVectorsPerRow = (kKMajor ? kBlockK : kExtent) / 8;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    long long block_pitch;  // elements from one k-tile to the next, unless K-major
    WholeChunks whole;
    int extent_left;  // elements of M or N from this thread's vector on
    int k_left;  // elements of K from this thread's vector of the next k-tile on
    int row, column;  // of pass 0, in the tile
    bool juts = false;  // a vector of the next k-tile has a chunk that juts out of the matrix
    RawVector raw[kPasses];

    __device__ __forceinline__ RealignCopy(const Bits* matrix, long long ld, int first, int extent, int first_k, int k)
        : whole(matrix, kKMajor ? matrix + (extent - 1) * ld + k : matrix + (k - 1) * ld + extent) {
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

    // Passes are multiples of eight rows apart. That changes neither the swizzle nor the misalignment of pass 0.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / 8) + (pass * kRowsPerPass - step) * kPitch;
    }

    __device__ __forceinline__ unsigned misalignment(int pass) const {
        return misalignment_of(kRowsPerPass % 8 == 0 ? source : source + pass * pass_pitch);
    }

    // Issues one of `slices` parts of the loads.
    __device__ __forceinline__ void issue(unsigned, int slice, int slices) {
        const Bits* vector = source + kPasses * slice / slices * pass_pitch;
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
            const bool in_range = columns_left() > 0 && rows_left() > pass * kRowsPerPass;
            const bool is_whole = whole.contain(vector);
            raw[pass] = load_raw(vector, in_range && is_whole);
            juts |= in_range && !is_whole;
            vector += pass_pitch;
        }
    }

    // Stores the vectors, and moves on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            store_shared(destination(stage, pass), realign(raw[pass], misalignment(pass)));
        }
        if (juts || (kKMajor && columns_left() > 0 && columns_left() < 8)) mend(stage);
        source += kKMajor ? kBlockK : block_pitch;
        k_left -= kBlockK;
    }

    __device__ __forceinline__ void mend(unsigned stage) {
#pragma unroll 1
        for (int pass = 0; pass < kPasses; ++pass) {
            if (rows_left() <= pass * kRowsPerPass) break;
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            const Bits* vector = source + pass * pass_pitch;
            if constexpr (kKMajor)
                store_shared(destination(stage, pass),
                             keep_first(load_elements(vector, columns_left()), columns_left()));
            else if (!whole.contain(vector))
                store_shared(destination(stage, pass), load_elements(vector, columns_left()));
        }
        juts = false;
    }
};
