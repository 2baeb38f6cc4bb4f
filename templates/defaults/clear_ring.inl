// clang-format off
#if !GEMM_C_TMA
    if (walk.no_products) shared.clear_ring();
#endif
