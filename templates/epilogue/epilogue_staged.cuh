#pragma once
#include "common/numeric.cuh"
#include "epilogue/accumulator_pair.cuh"

// A thread's part of 16 rows by eight columns: a pair in row g and a pair in row g + 8.
struct Atom {
    GEMM_PAIRS_OF_ATOM();
};

__device__ __forceinline__ Atom atom_of(const Accumulator* sums) {
    return {accumulator_pair(sums, 0), accumulator_pair(sums, 1)};
}

#include "epilogue_expression.cuh"

constexpr int kStagers = 32;  // threads that fill a slice together: a warp
#include "epilogue/staging.cuh"
// The address of a 16-byte chunk of a row of a slice. TMA swizzles rows of 32, 64 and 128 bytes: it permutes their
// chunks by the address bits from 7 on (PTX ISA, "Swizzling Modes").
template <int kRowBytes, bool kSwizzled>
__device__ __forceinline__ unsigned chunk_address(unsigned slice, int row, int chunk) {
    const unsigned address = slice + row * kRowBytes + chunk * 16;
    return kSwizzled ? address ^ (address >> 3 & (kRowBytes - 16)) : address;
}
constexpr bool kSwizzledSlices = kSliceColumns * sizeof(Staged) > 16;

#if GEMM_SYMMETRIC
#include "epilogue/mirror.cuh"
#endif
#include "epilogue/stage_slice.cuh"
#include "tile_outputs.inl"
#include "store_slice.cuh"
#include "tile_operands.inl"
#if GEMM_BLOCK_REDUCTIONS

// Reduces the block of columns that begins with slice `first` of a warp's 16 rows, before its sums are finished.
__device__ __forceinline__ void reduce_block(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args,
                                             int row, int column, TileOperands& operands, int first, int lane) {
    operands.begin_block();
#pragma unroll
    for (int i = first; i < first + kSlicesOfBlock; ++i) {
        operands.read_slice(args, row, column + i * kSliceColumns, lane);
        GEMM_BEGIN_SLICE_OF_PANELS();
#pragma unroll
        GEMM_TAKE_ATOMS();
    }
    operands.finish_block(args, row, column + first * kSliceColumns, lane);
}
#endif

// rC -> sD -> gD. A warp has 16 of 64 rows of a warpgroup tile, from (row, column) of D on. It writes slices of 16 rows
// by kSliceColumns to its own part of shared memory, which holds kSlices of them, and stores each.
__device__ __forceinline__ void store_rows(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args,
                                           const Edges& edges, int row, int column, Staging& staging,
                                           TileOperands operands, int lane) {
#pragma unroll
    for (int i = 0; i < kSlicesOfRow; ++i) {
        GEMM_TAKE_SLICE();
        GEMM_REDUCE_BLOCK();
        GEMM_READ_SLICE();
        GEMM_AWAIT_SLICE();
        __syncwarp();
        GEMM_SUMS_OF_SLICE();
        GEMM_BEGIN_SLICE_OF_PANELS();
        GEMM_FINISH_ATOM();
        GEMM_STORE_REST();
        stage_slice<kSliceColumns, kSwizzledSlices>(slice, finished, lane);
        store_slice<kSliceColumns, kSwizzledSlices>(slice, args, edges, row, slice_column, lane);
    }
    GEMM_STORE_PARTS();
}
