// clang-format off
#if GEMM_PERSISTENT && !GEMM_OVERLAPPED && !GEMM_PINGPONG && !GEMM_BROADCAST_C
    const int row = tile.row + warpgroup_row + warp * 16;
    const int column = tile.column + warpgroup_column;
#endif
#if GEMM_OVERLAPPED && GEMM_C_TMA
        RingPosition of_c = kHalf == 0 ? ring : ring.before(stages_of_c(args));
        wait_for_c(args, shared, of_c);
        const PartOfC c(args, shared, of_c, threadIdx.x / 128 * kPanelsPerRow, threadIdx.x / 32 % 4 * 16);
        store_rows(rC[kHalf], args, tile, row + kHalf * 64, column, staging, c, lane);
        release_c(args, shared, of_c, lane);
#elif GEMM_OVERLAPPED && GEMM_BROADCAST_C
        const PartOfC c(args, tile, row + kHalf * 64, column, lane);
        store_rows(rC[kHalf], args, tile, row + kHalf * 64, column, staging, c, lane);
#elif GEMM_OVERLAPPED
        store_rows(rC[kHalf], args, tile, row + kHalf * 64, column, staging, lane);
#elif GEMM_C_TMA
#if !GEMM_PERSISTENT
        release(shared, multiplied.read, lane);
#endif
#if GEMM_PINGPONG
        const PartOfC c(args, shared, ring, 0, warp * 16);
#else
        wait_for_c(args, shared, ring);
        const PartOfC c(args, shared, ring, warpgroup % kConsumersN * kPanelsPerRow, warpgroup_row + warp * 16);
#endif
        epilogue(rC, args, tile, row, column, staging, c, lane);
#if GEMM_PERSISTENT
        release_c(args, shared, ring, lane);
#endif
#elif GEMM_BROADCAST_C
        epilogue(rC, args, tile, row, column, staging, c, lane);
#else
        epilogue(rC, args, tile, row, column, staging, lane);
#endif
