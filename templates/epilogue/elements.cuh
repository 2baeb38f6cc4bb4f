#pragma once

// A matrix that lies as D does, read from global memory: a thread's pairs of a slice, all at once.
template <typename Pair>
struct Elements {
    Pair pairs[kSliceColumns / 8][2];

    // Reads those of 16 rows from (row, column) on, and nothing beyond the edges.
    __device__ __forceinline__ void read(const typename Pair::Element* matrix, long long pitch, const Edges& edges,
                                         int row, int column, bool is_read, int lane) {
        row += lane / 4;
        column += lane % 4 * 2;
        const int rows = is_read ? edges.end_row - row : 0;
        const int columns = edges.end_column - column;
        matrix += row * pitch + column;
#pragma unroll
        for (int j = 0; j < kSliceColumns / 8; ++j)
#pragma unroll
            for (int pair = 0; pair < 2; ++pair)
                pairs[j][pair] = Pair::load(matrix + pair * 8 * pitch + j * 8, pair * 8 < rows ? columns - j * 8 : 0);
    }

    // Those for the j-th atom.
    __device__ __forceinline__ Atom atom(int j) const { return {pairs[j][0].to_floats(), pairs[j][1].to_floats()}; }
};
