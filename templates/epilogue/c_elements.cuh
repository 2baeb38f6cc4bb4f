#pragma once
#include "epilogue/finish_element.cuh"
// C is read from global memory, element by element.
// Two neighbours of D; what lies beyond C's edges is not read.
__device__ __forceinline__ float2 finish_pair(const GemmArgs& args, int row, int column, float2 sum) {
    if (row < args.m && column < args.n) sum.x = finish_element(args, row, column, sum.x);
    if (row < args.m && column + 1 < args.n) sum.y = finish_element(args, row, column + 1, sum.y);
    return sum;
}
__device__ __forceinline__ Atom finish_atom(const Accumulator* sums, const GemmArgs& args, int row, int column,
                                            int lane) {
    row += lane / 4;
    column += lane % 4 * 2;
    const Atom atom = atom_of(sums);
    return {finish_pair(args, row, column, atom.pair[0]), finish_pair(args, row + 8, column, atom.pair[1])};
}
