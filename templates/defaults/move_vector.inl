// clang-format off
#if GEMM_PACK_A && GEMM_PACK_B
        if (v < vectors_a)
            a.move(v);
        else
            b.move(v - vectors_a);
#elif GEMM_PACK_A
        a.move(v);
#else
        b.move(v);
#endif
