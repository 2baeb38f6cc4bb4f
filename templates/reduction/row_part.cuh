#pragma once
#include "reduction/row_values.cuh"

// A warp's part of a reduction over columns: one value of kPartColumns columns for each of its 16 rows.
template <typename Kind>
struct RowPart : RowValues<Kind> {
    // Stores the part of the 16 rows from (row, column) of D on.
    __device__ __forceinline__ void store(float* parts, const Edges& edges, int row, int column, int lane) {
        this->combine();
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
            const int own = row + lane / 4 + pair * 8;
            if (lane % 4 == 0 && own < edges.end_row && column < edges.end_column)
                parts[static_cast<long long>(column / kPartColumns) * edges.end_row + own] = this->values[pair];
        }
    }
};
