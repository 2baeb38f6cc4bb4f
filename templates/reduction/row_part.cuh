#pragma once

// A warp's part of a reduction over columns: one value of kPartColumns columns for each of its 16 rows.
template <typename Kind>
struct RowPart {
    float values[2] = {Kind::of_nothing(), Kind::of_nothing()};  // of this thread's columns in rows g and g + 8

    // Takes a thread's pair of an atom, in row g (pair 0) or g + 8 (pair 1). Only the first `left` of the two are
    // elements of D.
    __device__ __forceinline__ void take(float x, float y, int left, int pair) {
        const float first = left > 0 ? x : Kind::of_nothing(), second = left > 1 ? y : Kind::of_nothing();
        values[pair] = Kind::of(values[pair], Kind::of(first, second));
    }

    // Stores the part of the 16 rows from (row, column) of D on.
    __device__ __forceinline__ void store(float* parts, const Edges& edges, int row, int column, int lane) {
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
            for (int other = 1; other < 4; other *= 2)
                values[pair] = Kind::of(values[pair], __shfl_xor_sync(0xffffffff, values[pair], other));
            const int own = row + lane / 4 + pair * 8;
            if (lane % 4 == 0 && own < edges.end_row && column < edges.end_column)
                parts[static_cast<long long>(column / kPartColumns) * edges.end_row + own] = values[pair];
        }
    }
};
