// clang-format off
#if GEMM_STORE_TMA
    if (threadIdx.x % 32 == 0) tma_store_wait_read<0>();
#endif
