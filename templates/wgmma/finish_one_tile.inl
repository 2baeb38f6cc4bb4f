// clang-format off
    const int row = origin.row + warpgroup_row + warp * 16;
    const int column = origin.column + warpgroup_column;
#if GEMM_BROADCAST_C
    const PartOfC c(args, row, column, lane);
#endif
    wgmma_wait_for(rC);
#if GEMM_C_TMA
    release(shared, read, lane);  // C may want the stage
#endif
#if GEMM_STORE_STAGED
    Staging staging(shared.staging);
#endif
#if GEMM_C_TMA
    wait_for_c(args, shared, ring);
    const PartOfC c(args, shared, ring, warpgroup % kConsumersN * kPanelsPerRow, warpgroup_row + warp * 16);
    epilogue(rC, args, row, column, staging, c, lane);
#elif GEMM_BROADCAST_C
    epilogue(rC, args, row, column, staging, c, lane);
#elif GEMM_STORE_STAGED
    epilogue(rC, args, row, column, staging, lane);
#else
    epilogue(rC, args, row, column, lane);
#endif
#if GEMM_STORE_TMA
    if (lane == 0) tma_store_wait_read<0>();  // before the block's shared memory goes
#endif
