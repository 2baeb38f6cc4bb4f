#pragma once

// rC -> gD, straight from the registers. A thread has quads of four neighbours in a row. The quads of a warp's lanes
// lie side by side. rC[0][0] is the sum of D's element (first_row, first_column).
__device__ __forceinline__ void epilogue(const float (&rC)[kThreadM][kThreadN], const OutputTile& output, int first_row,
                                         int first_column, char* /*shared_memory*/) {
#pragma unroll
    for (int i = 0; i < kThreadM; ++i) {
        const int row = first_row + i / 4 * kLanesM * 4 + i % 4;
        if (row >= output.m) continue;
#pragma unroll
        for (int j = 0; j < kThreadN; j += kVectorD) {
            const int column = first_column + j / 4 * kLanesN * 4 + j % 4;
            if (column < output.n) store_vector(output, row, column, &rC[i][j]);
        }
    }
}
