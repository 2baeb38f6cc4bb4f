// clang-format off
#if GEMM_CLUSTER > 1
    cluster_sync();
#else
    __syncthreads();
#endif
