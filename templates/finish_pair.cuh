#pragma once
#include "numeric.cuh"
#if GEMM_READ_C
// alpha * sum + beta * C for an element and its right neighbour, as a fragment has them. C is read neither beyond its edges nor when
// beta is 0, whatever it holds.
__device__ __forceinline__ float2 finish_pair(const OutputTile& output, int row, int column, float2 sum) {
    const ElementC* const c = output.c + row * output.ldc + column;
    const bool is_read = output.beta != 0.0f && row < output.m;
    const float left = is_read && column < output.n ? c_to_float(c[0]) : 0.0f;
    const float right = is_read && column + 1 < output.n ? c_to_float(c[1]) : 0.0f;
    return make_float2(fmaf(output.beta, left, output.alpha * sum.x), fmaf(output.beta, right, output.alpha * sum.y));
}
#else
__device__ __forceinline__ float2 finish_pair(const OutputTile& output, float2 sum) {
    return make_float2(output.alpha * sum.x, output.alpha * sum.y);
}
#endif
