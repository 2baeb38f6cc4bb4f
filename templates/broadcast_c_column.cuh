#pragma once
#include "load_c.cuh"
// C is one row that each of D's has added, as a bias is: of D^T one column. A thread has rows g and g + 8 of its warp's 16; it finds
// them in L1, where touch_c has brought them while the last wgmmas are at work.
struct RowsOfC {
    ElementC pair[2];

    // From a row of D^T on. Nothing is read when beta is 0, and nothing beyond the column.
    __device__ __forceinline__ RowsOfC(const GemmArgs& args, int row, int lane) {
        row += lane / 4;
        const int rows = args.beta == 0.0f ? 0 : args.m - row;
#pragma unroll
        for (int i = 0; i < 2; ++i) pair[i] = load_c(args.c + row + i * 8, i * 8 < rows);
    }

    // To a pair of sums, in row g (pair 0) or g + 8 (1).
    __device__ __forceinline__ float2 add_to(float2 sum, int i, float beta) const {
        if (beta == 0.0f) return sum;
        const float addend = c_to_float(pair[i]);
        return make_float2(fmaf(beta, addend, sum.x), fmaf(beta, addend, sum.y));
    }
};

// The rows of a warpgroup tile, from that one of D^T on: each lane reads an element of a line, for which nobody waits.
__device__ __forceinline__ void touch_c(const GemmArgs& args, int row, int /*any column*/, int lane) {
    const int first = lane * (128 / static_cast<int>(sizeof(ElementC)));
    load_c(args.c + row + first, first < kWarpgroupM && row + first < args.m && args.beta != 0.0f);
}
