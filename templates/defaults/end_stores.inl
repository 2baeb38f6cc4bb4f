// clang-format off
    if (threadIdx.x % 32 == 0) tma_store_wait_read<0>();
