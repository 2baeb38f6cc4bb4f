#pragma once
#if GEMM_GROUPED
#include "epilogue/store_slice_by_threads.cuh"

// A slice of 16 rows, shared memory -> gD by TMA, from (row, column) of D on. A box of TMA would reach the next group's
// rows, so threads store a slice in which a group ends.
template <int kColumns, bool kSwizzled>
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, const Edges& edges, int row,
                                            int column, int lane) {
    if (row + 16 > edges.end_row) {
        store_slice_by_threads<kColumns, kSwizzled>(slice, args, edges, row, column, lane);
        if (lane == 0) tma_store_commit();  // an empty group: the next waits count one for each slice
        return;
    }
#else

// A slice of 16 rows, shared memory -> gD by TMA, from (row, column) of D on.
template <int kColumns, bool kSwizzled>
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, const Edges& /*edges*/, int row,
                                            int column, int lane) {
#endif
    fence_proxy_async();
    __syncwarp();
    if (lane == 0) {
        GEMM_STORE_SLICE_BY_TMA();
        GEMM_STORE_OUTPUTS();
        GEMM_STORE_MIRROR();
        tma_store_commit();
    }
}
