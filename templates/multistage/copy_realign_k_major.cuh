#pragma once
#include "common/realign.cuh"
#include "common/keep_first.cuh"
#include "common/store_shared.cuh"
// A copy of a matrix aligned to one element only, through registers: issue() loads, finish() shifts into place and stores, so
// that the mma of a k-tile hide the latency between them. These two handle vectors like all others, without a branch; the few
// that the end of K cuts, or that lie near the ends of the matrix, are written again by mend(), one after the other.
// Tile (kRows, kBlockK) of a matrix contiguous along k: a row of M or N is a row of shared memory.
template <int kRows, int kPitch>
struct RealignCopyKMajor {
    static constexpr int kVectorsPerRow = kBlockK / 8;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Bits* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    WholeChunks whole;
    int rows_left;  // rows of the matrix from this thread's row on
    int k_left;  // elements of K from this thread's vector of the next k-tile on
    int row, column;  // of pass 0, in the tile
    bool juts = false;  // a chunk of a vector of the next k-tile juts out of the matrix
    RawVector raw[kPasses];

    __device__ __forceinline__ RealignCopyKMajor(const Bits* matrix, long long ld, int first_row, int rows, int first_k,
                                                 int k)
        : whole(matrix, matrix + (rows - 1) * ld + k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * 8;
        source = matrix + (first_row + row) * ld + first_k + column;
        pass_pitch = kRowsPerPass * ld;
        rows_left = rows - first_row - row;
        k_left = k - first_k - column;
    }

    // A step of eight rows changes neither the swizzle nor the misalignment, so those of pass 0 serve all passes.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / 8) + (pass * kRowsPerPass - step) * kPitch;
    }

    __device__ __forceinline__ unsigned misalignment(int pass) const {
        return misalignment_of(kRowsPerPass % 8 == 0 ? source : source + pass * pass_pitch);
    }

    // One of `slices` parts of the loads.
    __device__ __forceinline__ void issue(unsigned, int slice, int slices) {
        const Bits* vector = source + kPasses * slice / slices * pass_pitch;
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
            const bool in_range = k_left > 0 && rows_left > pass * kRowsPerPass;
            const bool is_whole = whole.contain(vector);
            raw[pass] = load_raw(vector, in_range && is_whole);
            juts |= in_range && !is_whole;
            vector += pass_pitch;
        }
    }

    // The stores, and on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            store_shared(destination(stage, pass), realign(raw[pass], misalignment(pass)));
        }
        if (juts || (k_left > 0 && k_left < 8)) mend(stage);
        source += kBlockK;
        k_left -= kBlockK;
    }

    __device__ __forceinline__ void mend(unsigned stage) {
#pragma unroll 1
        for (int pass = 0; pass < kPasses; ++pass) {
            if (rows_left <= pass * kRowsPerPass) break;
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            const uint4 value = load_elements(source + pass * pass_pitch, k_left);
            store_shared(destination(stage, pass), keep_first(value, k_left));
        }
        juts = false;
    }
};
