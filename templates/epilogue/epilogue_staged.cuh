#pragma once
#include "common/numeric.cuh"
#include "epilogue/accumulator_pair.cuh"

// A thread's part of 16 rows by eight columns: a pair in row g and a pair in row g + 8.
struct Atom {
#if GEMM_EXACT_SUMS
    int2 pair[2];
#else
    float2 pair[2];
#endif
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
#if GEMM_STORE_TMA
#include "epilogue/store_slice_by_tma.cuh"
#elif GEMM_SLICE_OF_SUMS
#include "epilogue/store_slice_with_c.cuh"
#else
#include "epilogue/store_slice_by_threads.cuh"
#endif
#include "tile_operands.inl"
#if GEMM_BLOCK_REDUCTIONS

// Reduces the block of columns that begins with slice `first` of a warp's 16 rows, before its sums are finished.
__device__ __forceinline__ void reduce_block(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args,
                                             int row, int column, TileOperands& operands, int first, int lane) {
    operands.begin_block();
#pragma unroll
    for (int i = first; i < first + kSlicesOfBlock; ++i) {
        operands.read_slice(args, row, column + i * kSliceColumns, lane);
#if GEMM_TILE_PANELS
        operands.begin_slice(i);
#endif
#pragma unroll
        for (int j = 0; j < kSliceColumns / 8; ++j)
#if GEMM_PAIRS
            operands.take_atom(args, rC[(i * kSliceColumns / 8 + j) * 2], i, j, lane);
#else
            operands.take_atom(args, rC[i * kSliceColumns / 8 + j], i, j, lane);
#endif
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
#if GEMM_SYMMETRIC
        const int slice_column = column + i * kSliceColumns;
        if (is_below_diagonal(row, slice_column)) continue;
        const unsigned slice = staging.take();
#else
        const unsigned slice = staging.take();
        const int slice_column = column + i * kSliceColumns;
#endif
#if GEMM_BLOCK_REDUCTIONS
        if (i % kSlicesOfBlock == 0) reduce_block(rC, args, row, column, operands, i, lane);
#endif
#if GEMM_READ_SLICES
        operands.read_slice(args, row, slice_column, lane);
#endif
#if GEMM_STORE_TMA
        if (lane == 0) tma_store_wait_read<kSlices - 1>();  // until the store that last used this slice has read it
#endif
        __syncwarp();
#if GEMM_PAIRS
        const auto* const sums = rC + i * kSliceColumns / 8 * 2;
#else
        const auto* const sums = rC + i * kSliceColumns / 8;
#endif
#if GEMM_TILE_PANELS
        operands.begin_slice(i);
#endif
#if GEMM_PAIRS
        const auto finished = [&](int j) { return operands.finish_atom(args, sums[2 * j], i, j, lane); };
#elif GEMM_STAGED_OUTPUTS
        const auto finished = [&](int j) {
            const FinishedAtoms atoms = operands.finish_atom(args, sums[j], i, j, lane);
#if GEMM_REST_COLUMNS
            if (i == kSlicesOfRow - 1)
                stage_outputs<kRestColumns>(slice, atoms, j, lane);
            else
                stage_outputs<kSliceColumns>(slice, atoms, j, lane);
#else
            stage_outputs<kSliceColumns>(slice, atoms, j, lane);
#endif
            return atoms.d;
        };
#else
        const auto finished = [&](int j) { return operands.finish_atom(args, sums[j], i, j, lane); };
#endif
#if GEMM_REST_COLUMNS
        if (i == kSlicesOfRow - 1) {
            stage_slice<kRestColumns, false>(slice, finished, lane);
            store_slice<kRestColumns, false>(slice, args, edges, row, slice_column, lane);
            continue;
        }
#endif
        stage_slice<kSliceColumns, kSwizzledSlices>(slice, finished, lane);
        store_slice<kSliceColumns, kSwizzledSlices>(slice, args, edges, row, slice_column, lane);
    }
#if GEMM_REDUCTIONS
    operands.store_parts(args, row, column, lane);
#endif
}
