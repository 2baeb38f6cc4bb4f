#pragma once
#include "multistage/copy_place.cuh"
#include "common/store_shared.cuh"

// Reads the first `elements` of a chunk: only these lie inside the matrix. The others become zero.
__device__ __forceinline__ uint4 load_vector(const Bits* source, int elements) {
    if (elements >= kChunkElements) return *reinterpret_cast<const uint4*>(source);
    constexpr int kWordElements = kChunkElements / 4;
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < kChunkElements; ++i)
        if (i < elements)
            words[i / kWordElements] |= static_cast<unsigned>(source[i]) << i % kWordElements * (32 / kWordElements);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// A copy through registers of a matrix aligned to 16 bytes: issue() loads vectors, finish() stores them.
template <bool kKMajor, int kExtent, int kPitch>
struct RegisterCopy : CopyPlace<Bits, kKMajor, kExtent, kChunkElements> {
    using Place = CopyPlace<Bits, kKMajor, kExtent, kChunkElements>;
    using Place::column, Place::columns_left, Place::pass_pitch, Place::row, Place::rows_left, Place::source;
    using Place::kPasses, Place::kRows, Place::kRowsPerPass, Place::next_k_tile;

    uint4 vector[kPasses];

    using Place::Place;

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
            store_shared(stage + shared_offset<kPitch>(tile_row, column / kChunkElements), vector[pass]);
        }
        next_k_tile();
    }
};
