#pragma once

// Scales of blocks of K: one of A for each row, or for 128 rows, and one of B for each column, or for 128 columns. Each
// is for 128 of K. Those of a k-tile lie behind the ring, in shared memory. The partial sums of a wave are multiplied
// with them before they are added.

__device__ __forceinline__ float load_scale(unsigned address) {
    float scale;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(scale) : "r"(address) : "memory");
    return scale;
}
#if GEMM_SCALES_BY_THREADS

// A scale for each kStep rows (or columns) of a tile, one behind the other.
template <int kStep>
struct ScalesOfParts {
    unsigned address;  // of the thread's first row, in stage 0

    __device__ __forceinline__ float at(int row, int stage, int /*k_block*/) const {
        return load_scale(address + stage * kScaleBytes + row / kStep * 4);
    }
};
#endif
#if GEMM_SCALES_OF_LINES

// A scale for each row (or column). If k-blocks lie side by side, a line holds those of four k-blocks.
template <int kStride, bool kAlongK>
struct ScalesOfLines {
    unsigned address;  // of the thread's first row, in stage 0

    __device__ __forceinline__ float at(int row, int stage, int k_block) const {
        return load_scale(address + stage * kScaleBytes + row * kStride + (kAlongK ? k_block % 4 * 4 : 0));
    }
};
#endif
#if GEMM_SCALES_OF_BLOCKS

// A scale for 128 rows (or columns). Each kStep rows of the tile lie in one such block. They have 128 bytes in shared
// memory, which hold the scales of four neighbours.
template <int kStep, bool kAlongK>
struct ScalesOfBlocks {
    unsigned address;  // of the warpgroup tile's first row, in stage 0
    int row_in_tile;  // of that row
    int first_row;  // that row, in D

    __device__ __forceinline__ void begin_tile(int row, int /*end_row*/) { first_row = row + row_in_tile; }
    __device__ __forceinline__ float at(int row, int stage, int k_block) const {
        const int neighbour = kAlongK ? k_block : (first_row + row) / 128;
        return load_scale(address + stage * kScaleBytes + row / kStep * 128 + neighbour % 4 * 4);
    }
};
#endif
#if GEMM_PAIRED_SCALES

// Of 16 rows (or columns) of sums, eight are the first ones of pairs, and the next eight the second ones. Returns the
// place of a line's scale among those of the tile.
__device__ __forceinline__ constexpr int scale_line(int line) {
    const int pair = line / 16 * 8 + line % 8, second = line / 8 % 2;
    GEMM_SCALE_LINE();
}
#endif
GEMM_SCALE_TYPES();

// Where a thread finds A and the scales.
struct PlaceA {
    unsigned long long descriptor;  // the matrix descriptor of A in stage 0
    int k_block;  // of 128 of K
    GEMM_SCALE_PLACES();
};

// The warpgroup tile begins at `row` of the block tile, and at its first column.
__device__ __forceinline__ PlaceA place_a(const SharedMemory& shared, int row) {
    PlaceA place;
    place.descriptor = OperandA::kDescriptor | (descriptor_address(shared.stage_a(0)) + OperandA::offset(row, 0));
    GEMM_FIND_SCALES();
    return place;
}

// The partial sums of a wave, and the scales for them.
struct PartialSums {
    WaveSums sums;
    GEMM_SCALES_OF_WAVE();
};

// Reads the scales of a wave, and issues its wgmmas.
__device__ __forceinline__ void multiply_wave(PartialSums& partial, PlaceA& a, unsigned long long b,
                                              const RingPosition& ring, int wave) {
    GEMM_READ_SCALES();
    if (wave == kWaves - 1) ++a.k_block;
    multiply_wave(partial.sums, a.descriptor, b, ring, wave);
}

template <int kPending>
__device__ __forceinline__ void wgmma_wait_for(PartialSums& partial) {
    wgmma_wait_for<kPending>(partial.sums);
}
