#pragma once
#include "epilogue/finish_element.cuh"

// C is read from global memory, element by element.
// Two neighbours of D. Nothing beyond C's edges is read.
__device__ __forceinline__ float2 finish_pair(const GemmArgs& args, const Edges& edges, int row, int column,
                                              float2 sum) {
    if (row < edges.end_row && column < edges.end_column) sum.x = finish_element(args, row, column, sum.x);
    if (row < edges.end_row && column + 1 < edges.end_column) sum.y = finish_element(args, row, column + 1, sum.y);
    return sum;
}
__device__ __forceinline__ Atom finish_atom(const Accumulator* sums, const GemmArgs& args, const Edges& edges, int row,
                                            int column, int lane) {
    row += lane / 4;
    column += lane % 4 * 2;
    const Atom atom = atom_of(sums);
    return {finish_pair(args, edges, row, column, atom.pair[0]),
            finish_pair(args, edges, row + 8, column, atom.pair[1])};
}
