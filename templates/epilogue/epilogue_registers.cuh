#pragma once
#include "epilogue/accumulator_pair.cuh"
#include "epilogue/store_pair.cuh"

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
