// clang-format off
#if GEMM_CLUSTER > 1
    __syncwarp();
    cluster_sync();
#endif
