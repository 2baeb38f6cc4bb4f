#pragma once
#include "epilogue/accumulator_pair.cuh"
#include "epilogue/output_tile.cuh"
#include "epilogue/store_element.cuh"
#if GEMM_READ_C
#include "epilogue/finish_element.cuh"
#endif
// Stores two neighbours of a row of D. Nothing beyond D's edges is read or stored.
__device__ __forceinline__ void store_pair(const OutputTile& output, int row, int column, float2 sum) {
    if (row >= output.m) return;
#if GEMM_READ_C
    if (column < output.n) sum.x = finish_element(output, row, column, sum.x);
    if (column + 1 < output.n) sum.y = finish_element(output, row, column + 1, sum.y);
#else
    sum = make_float2(finish(output, sum.x), finish(output, sum.y));
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

// rC -> gD straight from the fragments. A thread has columns 2t and 2t + 1 of rows g and g + 8 of each atom. It stores
// them as a pair where D's alignment allows. This needs neither shared memory nor a barrier, but the stores of a warp
// are short runs.
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
