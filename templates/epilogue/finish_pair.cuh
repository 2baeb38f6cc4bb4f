#pragma once
#include "common/numeric.cuh"
#if GEMM_READ_C
// alpha * sum + beta * C for one element, in f32. C is not read when beta is 0, whatever it holds.
__device__ __forceinline__ float add_c(float sum, const OutputTile& output, int row, int column) {
    if (output.beta == 0.0f) return output.alpha * sum;
    return fmaf(output.beta, c_to_float(output.c[row * output.ldc + column]), output.alpha * sum);
}

// The same for an element and its right neighbour, as a fragment has them; beyond the edges of C they stay as they are.
__device__ __forceinline__ float2 finish_pair(const OutputTile& output, int row, int column, float2 sum) {
    if (row < output.m && column < output.n) sum.x = add_c(sum.x, output, row, column);
    if (row < output.m && column + 1 < output.n) sum.y = add_c(sum.y, output, row, column + 1);
    return sum;
}
#else
__device__ __forceinline__ float2 finish_pair(const OutputTile& output, float2 sum) {
    return make_float2(output.alpha * sum.x, output.alpha * sum.y);
}
#endif
