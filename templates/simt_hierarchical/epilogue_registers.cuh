#pragma once
// rC -> gD, straight from the registers: a thread holds quads of four neighbours of a row, and the quads of a warp's
// lanes lie side by side. (first_row, first_column) is D's element of rC[0][0].
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
