#pragma once
#include "reduction/row_values.cuh"

// A reduction over a block of columns of each of a warp's 16 rows.
template <typename Kind>
struct BlockPart : RowValues<Kind> {
    // Stores the results of the 16 rows from (row, column) of D on. The one of row 0 lies at `results`.
    __device__ __forceinline__ void store(float* results, long long pitch, const Edges& edges, int row, int column,
                                          int lane) const {
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
            const int own = row + lane / 4 + pair * 8;
            if (lane % 4 == 0 && own < edges.end_row && column < edges.end_column)
                results[own * pitch] = this->values[pair];
        }
    }
};
