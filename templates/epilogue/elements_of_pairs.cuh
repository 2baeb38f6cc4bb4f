#pragma once

// A matrix that lies as D does, read from global memory: a thread's elements of a slice, all at once. A thread has
// one row of D^T, because two sums make an element. It has two elements of an atom, which lie one pitch apart.
template <typename Type>
struct Elements {
    using Element = typename Type::Element;
    Element elements[kSliceColumns / 8][2];

    // Reads those of eight rows from (row, column) of D^T on, and nothing beyond the edges.
    __device__ __forceinline__ void read(const Element* matrix, long long pitch, const Edges& edges, int row,
                                         int column, bool is_read, int lane) {
        row += lane / 4;
        column += lane % 4 * 2;
        const int columns = is_read && row < edges.end_row / 2 ? edges.end_column - column : 0;
        matrix += column * pitch + row;
#pragma unroll
        for (int j = 0; j < kSliceColumns / 8; ++j)
#pragma unroll
            for (int i = 0; i < 2; ++i) elements[j][i] = load_if(matrix + (j * 8 + i) * pitch, j * 8 + i < columns);
    }

    // Those for the j-th atom.
    __device__ __forceinline__ float2 pair(int j) const {
        return make_float2(Type::to_float(elements[j][0]), Type::to_float(elements[j][1]));
    }
};
