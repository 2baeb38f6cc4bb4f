#pragma once
#include "epilogue/accumulator_pair.cuh"
#include "epilogue/store_pair.cuh"
// rC -> gD straight from the fragments: a thread holds columns 2t, 2t + 1 of rows g and g + 8 of its warp's 16 rows, for every eight
// columns, and stores them as a pair where D's alignment allows.
// Of 64 rows of a warpgroup tile the 16 that are this warp's: (row, column) of D on.
__device__ __forceinline__ void store_rows(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args, int row,
                                           int column, int lane) {
    row += lane / 4;
    column += lane % 4 * 2;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
            store_pair(args, row + pair * 8, column + j * 8, accumulator_pair(rC[j], pair));
}
#if !GEMM_OVERLAPPED

__device__ __forceinline__ void epilogue(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const GemmArgs& args,
                                         int warp_row, int warp_column, int lane) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) store_rows(rC[i], args, warp_row + i * 64, warp_column, lane);
}
#endif
