#pragma once

// A matrix that lies as D does, read from global memory: a thread's pairs of a slice, all at once. In memory, the two
// of a pair are one pitch apart.
template <typename Type>
struct Elements {
    using Element = typename Type::Element;
    Element elements[kSliceColumns / 8][2][2];

    // Reads those of 16 rows from (row, column) on, and nothing beyond the edges.
    __device__ __forceinline__ void read(const Element* matrix, long long pitch, const Edges& edges, int row,
                                         int column, bool is_read, int lane) {
        row += lane / 4;
        column += lane % 4 * 2;
        const int rows = is_read ? edges.end_row - row : 0;
        const int columns = edges.end_column - column;
        matrix += column * pitch + row;
#pragma unroll
        for (int j = 0; j < kSliceColumns / 8; ++j)
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int pair = 0; pair < 2; ++pair)
                    elements[j][pair][i] =
                        load_if(matrix + (j * 8 + i) * pitch + pair * 8, pair * 8 < rows && j * 8 + i < columns);
    }

    // Those of row g (pair 0) or g + 8 (pair 1) for the j-th atom.
    __device__ __forceinline__ float2 pair(int j, int pair) const {
        return make_float2(Type::to_float(elements[j][pair][0]), Type::to_float(elements[j][pair][1]));
    }
};
