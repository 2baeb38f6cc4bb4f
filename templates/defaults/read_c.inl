// clang-format off
#if GEMM_BROADCAST_C && !GEMM_OVERLAPPED
#if GEMM_PINGPONG
    const PartOfC c(args, tile, tile.row + warp * 16, tile.column, lane);
#else
#if GEMM_PERSISTENT
    const int row = tile.row + warpgroup_row + warp * 16;
    const int column = tile.column + warpgroup_column;
#endif
    const PartOfC c(args, tile, row, column, lane);
#endif
#endif
