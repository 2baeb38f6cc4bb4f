// clang-format off
#if GEMM_BROADCAST_C
    prefetch_c(args, tile);
#elif GEMM_C_TMA
    if (stages_of_c(args, walk) == 0) return;
    copy_c(args, shared, tile.row, tile.column, ring);
#if GEMM_OVERLAPPED
    copy_c(args, shared, tile.row + 64, tile.column, ring);
#endif
#endif
