#pragma once
#include "common/numeric.cuh"
#include "epilogue/accumulator_pair.cuh"
#include "epilogue_expression.cuh"

constexpr int kStagers = 128;  // threads that fill a slice together: a warpgroup
#include "epilogue/staging.cuh"
#include "tile_outputs.inl"
#include "tile_operands.inl"

GEMM_BYTES_OF_COLUMN();

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
    GEMM_STAGE_FOUR_PAIRS();
    GEMM_STAGE_TWO_PAIRS();
    GEMM_STAGE_ONE_PAIR();
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
    GEMM_STAGE_TWO_COLUMNS();
    GEMM_STAGE_LAST_COLUMN();
}
#endif

template <int kColumns>
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, int row, int column, bool stores) {
    fence_proxy_async();
    warpgroup_sync();
    if (!stores) return;
    GEMM_STORE_SLICE_ACROSS();
    GEMM_STORE_OUTPUTS();
    tma_store_commit();
}

// Stores 64 rows of a warpgroup tile. Those of this warp begin at (row, column) of D.
__device__ __forceinline__ void store_rows(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args,
                                           const Edges& /*edges*/, int row, int column, Staging& staging,
                                           TileOperands operands, int lane) {
    const int warp = threadIdx.x / 32 % 4;
    const bool stores = warp == 0 && lane == 0;
    const unsigned place = place_in_slice(warp, lane);
    GEMM_ROW_OF_D();
#pragma unroll
    for (int i = 0; i < kSlicesOfRow; ++i) {
        const unsigned slice = staging.take();
        GEMM_READ_SLICE_ACROSS();
        if (stores) tma_store_wait_read<kSlices - 1>();  // until the store that last used this slice has read it
        warpgroup_sync();
        const auto* const sums = rC + i * kSliceColumns / 8;
        GEMM_FINISH_PAIR();
        const int slice_column = column + i * kSliceColumns;
        GEMM_STORE_REST_ACROSS();
        stage_slice<kSliceColumns>(slice + place, finished);
        store_slice<kSliceColumns>(slice, args, row, slice_column, stores);
    }
    GEMM_STORE_PARTS();
}
