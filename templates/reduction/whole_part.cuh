#pragma once

// A warp's part of a reduction over all of D: one value of 16 rows by kPartColumns columns.
template <typename Kind>
struct WholePart {
    float value = Kind::of_nothing();  // of this thread's elements

    // Takes a thread's pair of an atom. Only the first `left` of the two are elements of D.
    __device__ __forceinline__ void take(float x, float y, int left) {
        const float first = left > 0 ? x : Kind::of_nothing(), second = left > 1 ? y : Kind::of_nothing();
        value = Kind::of(value, Kind::of(first, second));
    }

    // Stores the part. The warp's elements begin at (row, column) of D.
    __device__ __forceinline__ void store(float* parts, const Edges& edges, int row, int column, int lane) {
#pragma unroll
        for (int other = 1; other < 32; other *= 2) value = Kind::of(value, __shfl_xor_sync(0xffffffff, value, other));
        const long long parts_of_rows = (edges.end_column + kPartColumns - 1) / kPartColumns;
        if (lane == 0 && row < edges.end_row && column < edges.end_column)
            parts[row / kPartRows * parts_of_rows + column / kPartColumns] = value;
    }
};
