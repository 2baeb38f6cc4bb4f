#pragma once

// rC *= the factors of its rows and columns, which undo the powers of two of the split (common/split.cuh). A warp has
// 16 of 64 rows of a warpgroup tile, from (row, column) of D on. The first and the second factors have about half of
// the exponent each, so that their products stay within f32.
__device__ __forceinline__ void scale_sums(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const GemmArgs& args,
                                           const Tile& tile, int row, int column, int lane) {
    const float2 *of_rows = factors_a(args), *of_columns = factors_b(args);
    float2 of_row[kTilesM][2];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            of_row[i][half] = of_rows[min(row + i * 64 + half * 8 + lane / 4, tile.end_row - 1)];
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
#pragma unroll
        for (int next = 0; next < 2; ++next) {
            const float2 of_column = of_columns[min(column + j * 8 + lane % 4 * 2 + next, tile.end_column - 1)];
#pragma unroll
            for (int i = 0; i < kTilesM; ++i)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    Accumulator& sum = rC[i][j][half * 2 + next];
                    sum = sum * (of_row[i][half].x * of_column.x) * (of_row[i][half].y * of_column.y);
                }
        }
}
