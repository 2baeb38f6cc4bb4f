#pragma once
#include "epilogue/load_c.cuh"

// C is a bias: one row, added to every row of D. For D^T it is one column. A thread has rows g and g + 8 of its warp's
// 16. It reads their elements of C while the last wgmmas run.
struct PartOfC {
    ElementC rows[kTilesOfC * 2];  // two of every 64 rows

    // The part that begins at a row of D^T. Nothing is read when beta is 0, and nothing beyond the column.
    __device__ __forceinline__ PartOfC(const GemmArgs& args, const Edges& edges, int row, int /*any column*/,
                                       int lane) {
        row += lane / 4;
        const int left = c_factor(args) == 0.0f ? 0 : edges.end_row - row;
#pragma unroll
        for (int i = 0; i < kTilesOfC * 2; ++i) {
            const int below = i / 2 * 64 + i % 2 * 8;
            rows[i] = load_c(args.c + row + below, below < left);
        }
    }

#if !GEMM_OVERLAPPED
    // The part `distance` rows below.
    __device__ __forceinline__ PartOfC below(int distance) const {
        PartOfC part = *this;
        part.rows[0] = rows[distance / 32];
        part.rows[1] = rows[distance / 32 + 1];
        return part;
    }

#endif
    // The elements of C for a pair of sums in row g (pair 0) or g + 8 (pair 1).
    __device__ __forceinline__ float2 pair(int pair) const {
        const float addend = c_to_float(rows[pair]);
        return make_float2(addend, addend);
    }
};

// Fetches a tile's part of C into L1, long before a warp reads it.
__device__ __forceinline__ void prefetch_c(const GemmArgs& args, const Tile& tile) {
    constexpr int kLine = 128 / sizeof(ElementC);
    const int end = c_factor(args) == 0.0f ? 0 : min(tile.row + kBlockM, tile.end_row);
#pragma unroll 1
    for (int row = tile.row; row < end; row += kLine) asm volatile("prefetch.global.L1 [%0];" ::"l"(args.c + row));
}
