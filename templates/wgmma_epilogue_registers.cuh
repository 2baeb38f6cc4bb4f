#pragma once
#include "accumulator_pair.cuh"
#include "store_pair.cuh"
// rC -> gD straight from the fragments: a thread holds columns 2t, 2t + 1 of rows g and g + 8 of its warp's 16 rows, for every eight
// columns, and stores them as a pair where D's alignment allows.
__device__ __forceinline__ void epilogue(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const GemmArgs& args, int warp_row,
                                         int warp_column, int lane) {
    const int row = warp_row + lane / 4;
    const int column = warp_column + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
#pragma unroll
            for (int j = 0; j < kTilesN; ++j)
                store_pair(args, row + i * 64 + pair * 8, column + j * 8, accumulator_pair(rC[i][j], pair));
}
