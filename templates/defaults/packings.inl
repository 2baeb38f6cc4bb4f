// clang-format off
#if GEMM_PACK_A
    const Packing a{args.a, args.lda, packed_a(args)};
    const unsigned vectors_a = a.vectors();
#else
    const unsigned vectors_a = 0;
#endif
#if GEMM_PACK_B
    const Packing b{args.b, args.ldb, packed_b(args)};
    const unsigned vectors = vectors_a + b.vectors();
#else
    const unsigned vectors = vectors_a;
#endif
    const auto move = [&](unsigned vector) {
#if GEMM_PACK_A && GEMM_PACK_B
        if (vector < vectors_a)
            a.move(vector);
        else
            b.move(vector - vectors_a);
#elif GEMM_PACK_A
        a.move(vector);
#else
        b.move(vector);
#endif
    };
