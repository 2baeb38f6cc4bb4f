#pragma once
#include "epilogue/finish_element.cuh"

// Operands are read from global memory, element by element. A warp's part of a tile begins at (row, column) of D.
struct TileOperands {
    const Edges& edges;
    int row, column;

#if !GEMM_OVERLAPPED
    // The part `rows` rows below.
    __device__ __forceinline__ TileOperands below(int rows) const { return {edges, row + rows, column}; }
#endif

    // Two neighbours of D. Nothing beyond D's edges is read.
    __device__ __forceinline__ float2 finish_at(const GemmArgs& args, int row, int column, float2 sum) const {
        if (row < edges.end_row && column < edges.end_column) sum.x = finish_element(args, row, column, sum.x);
        if (row < edges.end_row && column + 1 < edges.end_column) sum.y = finish_element(args, row, column + 1, sum.y);
        return sum;
    }
#if GEMM_SWAP_AB
    __device__ __forceinline__ float2 finish_pair(const GemmArgs& args, const Accumulator* sums, int slice, int j,
                                                  int pair, int lane) const {
        return finish_at(args, row + lane / 4 + pair * 8, column + slice * kSliceColumns + j * 8 + lane % 4 * 2,
                         accumulator_pair(sums, pair));
    }
#else
    __device__ __forceinline__ Atom finish_atom(const GemmArgs& args, const Accumulator* sums, int slice, int j,
                                                int lane) const {
        const int atom_row = row + lane / 4;
        const int atom_column = column + slice * kSliceColumns + j * 8 + lane % 4 * 2;
        const Atom atom = atom_of(sums);
        return {finish_at(args, atom_row, atom_column, atom.pair[0]),
                finish_at(args, atom_row + 8, atom_column, atom.pair[1])};
    }
#endif
};
