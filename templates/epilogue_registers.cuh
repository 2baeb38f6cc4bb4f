#pragma once
#include "accumulator_pair.cuh"
#include "store_element.cuh"
// rC -> gD straight from the fragments: a thread holds columns 2t, 2t + 1 of rows g and g + 8 of each atom, and stores them
// as a pair where D's alignment allows. Needs no shared memory and no barrier; the stores of a warp come in short runs.
#if GEMM_READ_C
// alpha * sum + beta * C for one element, in f32. C is not read when beta is 0, whatever it holds.
__device__ __forceinline__ float add_c(float sum, const OutputTile& output, int row, int column) {
    if (output.beta == 0.0f) return output.alpha * sum;
    return fmaf(output.beta, c_to_float(output.c[row * output.ldc + column]), output.alpha * sum);
}

#endif
__device__ __forceinline__ void store_pair(const OutputTile& output, int row, int column, float2 sum) {
    if (row >= output.m) return;
#if GEMM_READ_C
    if (column < output.n) sum.x = add_c(sum.x, output, row, column);
    if (column + 1 < output.n) sum.y = add_c(sum.y, output, row, column + 1);
#else
    sum.x *= output.alpha;
    sum.y *= output.alpha;
#endif
    auto* d = output.d + row * output.ldd + column;
#if GEMM_VECTOR_D > 1
    if (column + 1 < output.n)
#if GEMM_STORE_F32
        *reinterpret_cast<float2*>(d) = sum;
#else
        *reinterpret_cast<unsigned*>(d) = pack_d(sum.x, sum.y);
#endif
    else if (column < output.n)
        store(d, sum.x);
#else
    if (column < output.n) store(d, sum.x);
    if (column + 1 < output.n) store(d + 1, sum.y);
#endif
}

__device__ __forceinline__ void epilogue(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const OutputTile& output,
                                         int warp_row, int warp_column, int lane) {
    const int row = warp_row + lane / 4;
    const int column = warp_column + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
#pragma unroll
            for (int j = 0; j < kTilesN; ++j)
                store_pair(output, row + i * kMmaM + pair * 8, column + j * kMmaN, accumulator_pair(rC[i][j], pair));
}
