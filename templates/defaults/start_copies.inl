// clang-format off
#if GEMM_PACK_A
    CopyA copy_a(packed_a(args).elements, packed_a(args).pitch(), tile.row, tile.end_row, tile.first_k, tile.end_k);
#else
    CopyA copy_a(args.a, args.lda, tile.row, tile.end_row, tile.first_k, tile.end_k);
#endif
#if GEMM_PACK_B
    CopyB copy_b(packed_b(args).elements, packed_b(args).pitch(), tile.column, tile.end_column, tile.first_k, tile.end_k);
#else
    CopyB copy_b(args.b, args.ldb, tile.column, tile.end_column, tile.first_k, tile.end_k);
#endif
