#pragma once
#include "common/numeric.cuh"
#include "epilogue/accumulator_pair.cuh"
#include "epilogue_expression.cuh"

constexpr int kStagers = 128;  // threads that fill a slice together: a warpgroup
#include "epilogue/staging.cuh"
#include "tile_outputs.inl"
#include "tile_operands.inl"

#if GEMM_PAIRS
// rC -> sD -> gD, D column-major: a column of D is a row in memory. A thread's sums in rows g and g + 8 are a pair and
// make an element of D. A warpgroup finishes slices of 32 rows by kSliceColumns, converts and transposes them, and
// writes them to its own part of shared memory. TMA stores each slice. kSlices of them may be in flight.
constexpr int kColumnBytes = 32 * static_cast<int>(sizeof(ElementD));  // the span of TMA's swizzle
#else
// rC -> sD -> gD, D column-major: a column of D is a row in memory. A warpgroup finishes slices of 64 rows by
// kSliceColumns, converts and transposes them, and writes them to its own part of shared memory. TMA stores each slice.
// kSlices of them may be in flight.
constexpr int kColumnBytes = 64 * static_cast<int>(sizeof(ElementD));  // the span of TMA's swizzle
#endif

// Waits for the four warps of a warpgroup.
__device__ __forceinline__ void warpgroup_sync() {
    constexpr int kFirstBarrier = 3;  // barriers 0 to 2 have other uses
    asm volatile("bar.sync %0, 128;" ::"r"(kFirstBarrier + threadIdx.x / 128) : "memory");
}

#if GEMM_PAIRS
// The offset of a lane's column of the first four atoms in a slice. This warp's eight rows are one 16-byte chunk. TMA
// permutes the chunks by bits 7 and 8 of the address (PTX ISA, "Swizzling Modes").
__device__ __forceinline__ unsigned place_in_slice(int warp, int lane) {
    return lane * kColumnBytes + (warp ^ lane / 2 % 4) * 16;
}

// Writes one slice. `place` is the lane's address in it. `finished(j)` gives a thread's two elements of the j-th atom
// of eight columns, in row g.
template <int kColumns, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned place, const Finished& finished) {
    constexpr int kAtoms = kColumns / 8;
    const auto packed = [&](int j) {
        const float2 d = finished(j);
        return pack_d(d.x, d.y);
    };
#if GEMM_STMATRIX
#pragma unroll
    for (int j = 0; j + 3 < kAtoms; j += 4)
        stmatrix(place + j * 8 * kColumnBytes, {packed(j), packed(j + 1), packed(j + 2), packed(j + 3)});
#endif
#if GEMM_STMATRIX_X2
    if constexpr (kAtoms % 4 >= 2) {
        constexpr int kFirst = kAtoms / 4 * 4;
        stmatrix(place + kFirst * 8 * kColumnBytes, {packed(kFirst), packed(kFirst + 1)});
    }
#endif
#if GEMM_STMATRIX_X1
    if constexpr (kAtoms % 2 != 0) stmatrix(place + (kAtoms - 1) * 8 * kColumnBytes, {packed(kAtoms - 1)});
#endif
}
#else
// The offset of a lane's column of the first two atoms in a slice. This warp's 16 rows are two 16-byte chunks, 2 * warp
// and the next. TMA permutes the chunks by bits 7 to 9 of the address (PTX ISA, "Swizzling Modes").
__device__ __forceinline__ unsigned place_in_slice(int warp, int lane) {
    const int chunk = warp * 2 + lane / 8 % 2;
    return (lane / 16 * 8 + lane % 8) * kColumnBytes + (chunk ^ lane % 8) * 16;
}

// Writes one slice. `place` is the lane's address in it. `finished(j, pair)` gives a thread's pair of the j-th atom of
// eight columns: in row g (pair 0) or g + 8 (pair 1).
template <int kColumns, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned place, const Finished& finished) {
    const auto packed = [&](int j, int pair) {
        const float2 d = finished(j, pair);
        return pack_d(d.x, d.y);
    };
#if GEMM_STMATRIX
#pragma unroll
    for (int j = 0; j + 1 < kColumns / 8; j += 2)
        stmatrix(place + j * 8 * kColumnBytes, {packed(j, 0), packed(j, 1), packed(j + 1, 0), packed(j + 1, 1)});
#endif
#if GEMM_STMATRIX_X2
    if constexpr (kColumns % 16 != 0) {
        constexpr int kLast = kColumns / 8 - 1;
        stmatrix(place + kLast * 8 * kColumnBytes, {packed(kLast, 0), packed(kLast, 1)});
    }
#endif
}
#endif

template <int kColumns>
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, int row, int column, bool stores) {
    fence_proxy_async();
    warpgroup_sync();
    if (!stores) return;
#if GEMM_REST_COLUMNS
    tma_store(slice, kColumns == kRestColumns ? args.map_d_rest : args.map_d, row, column);
#else
    tma_store(slice, args.map_d, row, column);
#endif
#if GEMM_STAGED_OUTPUTS
    store_outputs<kColumns>(slice, args, row, column);
#endif
    tma_store_commit();
}

// Stores 64 rows of a warpgroup tile. Those of this warp begin at (row, column) of D.
__device__ __forceinline__ void store_rows(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args,
                                           const Edges& /*edges*/, int row, int column, Staging& staging,
                                           TileOperands operands, int lane) {
    const int warp = threadIdx.x / 32 % 4;
    const bool stores = warp == 0 && lane == 0;
    const unsigned place = place_in_slice(warp, lane);
#if GEMM_PAIRS
    row /= 2;  // of D, not of the sums
#endif
#pragma unroll
    for (int i = 0; i < kSlicesOfRow; ++i) {
        const unsigned slice = staging.take();
#if GEMM_READ_SLICES
        operands.read_slice(args, row, column + i * kSliceColumns, lane);
#endif
        if (stores) tma_store_wait_read<kSlices - 1>();  // until the store that last used this slice has read it
        warpgroup_sync();
        const auto* const sums = rC + i * kSliceColumns / 8;
#if GEMM_PAIRS
        const auto finished = [&](int j) { return operands.finish_pair(args, sums[j], i, j, lane); };
#elif GEMM_STAGED_OUTPUTS
        OutputWords words;  // of the atom that is being finished
        const auto finished = [&](int j, int pair) {
            const FinishedPairs pairs = operands.finish_pair(args, sums[j], i, j, pair, lane);
            words.take(pairs, pair);
            if (pair == 1) words.stage(slice + place + j * 8 * kColumnBytes);
            return pairs.d;
        };
#else
        const auto finished = [&](int j, int pair) { return operands.finish_pair(args, sums[j], i, j, pair, lane); };
#endif
        const int slice_column = column + i * kSliceColumns;
#if GEMM_REST_COLUMNS
        if (i == kSlicesOfRow - 1) {
            stage_slice<kRestColumns>(slice + place, finished);
            store_slice<kRestColumns>(slice, args, row, slice_column, stores);
            continue;
        }
#endif
        stage_slice<kSliceColumns>(slice + place, finished);
        store_slice<kSliceColumns>(slice, args, row, slice_column, stores);
    }
#if GEMM_REDUCTIONS
    operands.store_parts(args, row, column, lane);
#endif
}
