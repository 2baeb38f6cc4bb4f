#pragma once
// The kernel's argument, so that a template compiles alone. A rendering prints it from what the host passes.
#if GEMM_TENSOR_MAPS
struct GemmArgs {
#if GEMM_PACK_A
    TensorMap map_a;
#else
    TensorMap map_a;
#endif
#if GEMM_PACK_B
    TensorMap map_b;
#else
    TensorMap map_b;
#endif
#if GEMM_STORE_TMA
    TensorMap map_d;
#if GEMM_REST_COLUMNS
    TensorMap map_d_rest;
#endif
#if GEMM_SYMMETRIC
    TensorMap map_mirror;
#endif
#endif
#if GEMM_TILE_PANELS
    TensorMap map_c;
#if GEMM_REST_COLUMNS
    TensorMap map_c_rest;
#endif
#elif GEMM_BROADCAST_C && GEMM_SWAP_AB
    const ElementC* c;
#elif GEMM_BROADCAST_C
    const ElementC* c;
#elif GEMM_HAS_C
    const ElementC* c;
#endif
#if !GEMM_STORE_TMA
    ElementD* d;
#endif
#if GEMM_PACK_A
    const Bits* a;
#endif
#if GEMM_PACK_B
    const Bits* b;
#endif
#if GEMM_WORKSPACE
    char* workspace;
#endif
#if GEMM_STREAM_K
    unsigned* counters;
#endif
    int m, n, k;
#if GEMM_PACK_A
    long long lda;
#endif
#if GEMM_PACK_B
    long long ldb;
#endif
#if GEMM_TILE_PANELS
    long long ldc;
#elif GEMM_HAS_C && !GEMM_BROADCAST_C
    long long ldc;
#endif
#if !GEMM_STORE_TMA
    long long ldd;
#endif
    float alpha;
#if GEMM_HAS_C
    float beta;
#endif
};
#else
struct GemmArgs {
#if GEMM_TYPE_AB == 2
    const float* a;
    const float* b;
#else
    const Bits* a;
    const Bits* b;
#endif
#if GEMM_HAS_C
    const ElementC* c;
#endif
    ElementD* d;
#if GEMM_WORKSPACE
    char* workspace;
#endif
    int m, n, k;
    long long lda, ldb;
#if GEMM_HAS_C
    long long ldc;
#endif
    long long ldd;
    float alpha;
#if GEMM_HAS_C
    float beta;
#endif
};
#endif
