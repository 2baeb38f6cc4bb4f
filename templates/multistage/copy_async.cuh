#pragma once
#include "cp_async.cuh"
#include "multistage/copy_place.cuh"

// A copy by cp.async, which needs no registers: global to shared memory, kVectorBytes at a time.
template <typename Element, bool kKMajor, int kExtent, int kPitch, int kVectorBytes>
struct AsyncCopy : CopyPlace<Element, kKMajor, kExtent, kVectorBytes / static_cast<int>(sizeof(Element))> {
    static constexpr int kElementBytes = sizeof(Element);
    static constexpr int kVector = kVectorBytes / kElementBytes;
    using Place = CopyPlace<Element, kKMajor, kExtent, kVector>;
    using Place::column, Place::columns_left, Place::pass_pitch, Place::row, Place::rows_left, Place::source;
    using Place::kPasses, Place::kRows, Place::kRowsPerPass, Place::next_k_tile;

    using Place::Place;

    // Passes are multiples of eight rows apart, which doesn't change the swizzle: the offset of pass 0 serves all
    // passes.
    __device__ __forceinline__ unsigned destination(unsigned stage, int pass) const {
        const int step = kRowsPerPass % 8 == 0 ? 0 : pass * kRowsPerPass;
#if GEMM_LOAD_WORDS
        const int first = row + step, chunk = column / kChunkElements;
        return stage + (kKMajor ? shared_offset<kPitch>(first, chunk) : paired_offset<kPitch>(first, chunk)) +
#else
        return stage + shared_offset<kPitch>(row + step, column / kChunkElements) +
#endif
               column % kChunkElements * kElementBytes + (pass * kRowsPerPass - step) * kPitch;
    }

    // Issues one of `slices` parts of the whole vectors.
    __device__ __forceinline__ void issue(unsigned stage, int slice, int slices) const {
        const bool cut = columns_left() > 0 && columns_left() < kVector;  // finish() copies it
        const int rows_whole = columns_left() >= kVector ? rows_left() : 0;
        const Element* vector = source + kPasses * slice / slices * pass_pitch;
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            cp_async<kVectorBytes>(destination(stage, pass), vector, rows_whole > pass * kRowsPerPass, cut);
            vector += pass_pitch;
        }
    }

    // Copies the vectors that the edge of the matrix cuts, and moves on to the next k-tile.
    __device__ __forceinline__ void finish(unsigned stage) {
        if (columns_left() > 0 && columns_left() < kVector) {
#pragma unroll 1
            for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
                if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
                cp_async_cut<kVectorBytes>(destination(stage, pass), source + pass * pass_pitch,
                                           rows_left() > pass * kRowsPerPass ? columns_left() * kElementBytes : 0);
            }
        }
        next_k_tile();
    }
};
