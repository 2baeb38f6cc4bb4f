#pragma once

// A slice of 16 rows, shared memory -> gD by TMA, from (row, column) of D on.
template <int kColumns, bool kSwizzled>
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, const Edges& /*edges*/, int row,
                                            int column, int lane) {
    fence_proxy_async();
    __syncwarp();
    if (lane == 0) {
#if GEMM_REST_COLUMNS
        tma_store(slice, kColumns == kRestColumns ? args.map_d_rest : args.map_d, column, row);
#else
        tma_store(slice, args.map_d, column, row);
#endif
#if GEMM_STAGED_OUTPUTS
        store_outputs<kColumns>(slice, args, row, column);
#endif
        tma_store_commit();
    }
}
