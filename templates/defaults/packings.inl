// clang-format off
#if GEMM_PACK_A
    const Packing a{args.a, args.lda, packed_rows_a(args), packed_columns_a(args), packed_a(args)};
#endif
#if GEMM_PACK_B
    const Packing b{args.b, args.ldb, packed_rows_b(args), packed_columns_b(args), packed_b(args)};
#endif
#if GEMM_PACK_A && GEMM_PACK_B
    const unsigned vectors_a = a.vectors();
    const unsigned vectors = vectors_a + b.vectors();
#elif GEMM_PACK_A
    const unsigned vectors = a.vectors();
#else
    const unsigned vectors = b.vectors();
#endif
