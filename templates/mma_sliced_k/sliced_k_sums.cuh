#pragma once
#include "epilogue/accumulator_pair.cuh"
#include "epilogue/output_vector.cuh"

// rC -> this warp's part of sP.
__device__ __forceinline__ void lay_out_sums(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], float* part,
                                             int lane) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
#pragma unroll
            for (int j = 0; j < kTilesN; ++j) {
                const float2 sums = accumulator_pair(rC[i][j], pair);
                const int of_long = i * 16 + pair * 8 + lane / 4;
                const int of_few = j * 8 + lane % 4 * 2;
                lay_out_pair(part, of_long, of_few, sums);
            }
}

struct alignas(kVectorD * 4) SumVector {
    float element[kVectorD];
};

// sP -> gD: a thread adds up vectors of the tile, in the order of the warps.
__device__ __forceinline__ void add_up_and_store(const GemmArgs& args, const float* sP, const Tile& tile) {
    constexpr int kVectorsPerRow = kColumnsP / kVectorD;
#pragma unroll 1
    for (int v = threadIdx.x; v < kRowsP * kVectorsPerRow; v += kThreads) {
        const int row_of_tile = v / kVectorsPerRow;
        const int column_of_tile = v % kVectorsPerRow * kVectorD;
        const int row = tile.row + row_of_tile;
        const int column = tile.column + column_of_tile;
        if (row >= tile.end_row || column >= tile.end_column) continue;
        float sum[kVectorD] = {};
#pragma unroll
        for (int warp = 0; warp < kSlices; ++warp) {
            const SumVector part =
                *reinterpret_cast<const SumVector*>(sP + warp * kSumsOfAWarp + row_of_tile * kPitchP + column_of_tile);
#pragma unroll
            for (int e = 0; e < kVectorD; ++e) sum[e] += part.element[e];
        }
        store_vector(args, row, column, sum);
    }
}
