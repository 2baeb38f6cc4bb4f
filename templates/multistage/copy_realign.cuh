#pragma once
#include "multistage/copy_place.cuh"
#include "common/realign.cuh"
#include "common/store_shared.cuh"

// A copy through registers of a matrix that is aligned to one element only. issue() loads. finish() shifts vectors into
// place and stores them. The mmas of a k-tile run between the two and hide the latency. Both treat all vectors alike,
// without a branch. The end of K cuts a few vectors, and a few lie near the ends of the matrix: mend() writes these
// again, one by one.
template <bool kKMajor, int kExtent, int kPitch>
struct RealignCopy : CopyPlace<Bits, kKMajor, kExtent, kChunkElements> {
    using Place = CopyPlace<Bits, kKMajor, kExtent, kChunkElements>;
    using Place::column, Place::columns_left, Place::pass_pitch, Place::row, Place::rows_left, Place::source;
    using Place::kPasses, Place::kRows, Place::kRowsPerPass, Place::next_k_tile;

    WholeChunks whole;
    bool juts = false;  // a vector of the next k-tile has a chunk that juts out of the matrix
    RawVector raw[kPasses];

    __device__ __forceinline__ RealignCopy(const Bits* matrix, long long ld, int first, int extent, int first_k, int k)
        : Place(matrix, ld, first, extent, first_k, k),
          whole(matrix, kKMajor ? matrix + (extent - 1) * ld + k : matrix + (k - 1) * ld + extent) {}

    // Passes are multiples of eight rows apart. That changes neither the swizzle nor the misalignment of pass 0.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
        return stage + shared_offset<kPitch>(row + step, column / kChunkElements) +
               (pass * kRowsPerPass - step) * kPitch;
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
            store_shared(destination(stage, pass), realign<Bits>(raw[pass], misalignment(pass)));
        }
        if (juts || (kKMajor && columns_left() > 0 && columns_left() < kChunkElements)) mend(stage);
        next_k_tile();
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
