// clang-format off
#if GEMM_PACK_A
    CopyA copy_a(packed_a(args), packed_pitch(packed_columns_a(args)), tile.row, tile.end_row, tile.first_k,
                 tile.end_k);
#else
    CopyA copy_a(args.a, args.lda, tile.row, tile.end_row, tile.first_k, tile.end_k);
#endif
#if GEMM_PACK_B
    CopyB copy_b(packed_b(args), packed_pitch(packed_columns_b(args)), tile.column, tile.end_column, tile.first_k,
                 tile.end_k);
#else
    CopyB copy_b(args.b, args.ldb, tile.column, tile.end_column, tile.first_k, tile.end_k);
#endif
