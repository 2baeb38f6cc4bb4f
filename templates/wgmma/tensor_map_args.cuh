#pragma once
// A matrix in global memory as TMA addresses it (CUtensorMap): the host encodes it for the pointer of a launch.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

#if GEMM_SWAP_AB && GEMM_BROADCAST_C
// D (m, n) = alpha * A (m, k) * B (k, n) + beta * C, column-major D, C one of its columns that is added to each: the transposed
// problem, in which the caller's A and B have changed places. C is aligned as the kernel's name says.
#elif GEMM_SWAP_AB
// D (m, n) = alpha * A (m, k) * B (k, n), column-major D: the transposed problem, in which the caller's A and B have changed places.
#elif GEMM_BROADCAST_C
// D (m, n) = alpha * A (m, k) * B (k, n) + beta * C, row-major D, C one of its rows that is added to each. Leading dimensions count
// elements; pointers are aligned as the kernel's name says.
#elif GEMM_HAS_C
// D (m, n) = alpha * A (m, k) * B (k, n) + beta * C (m, n), row-major D and C. Leading dimensions count elements; pointers are
// aligned as the kernel's name says.
#else
// D (m, n) = alpha * A (m, k) * B (k, n), row-major D. Leading dimensions count elements; pointers are aligned as the kernel's
// name says.
#endif
struct GemmArgs {
#if GEMM_PACK_A
    TensorMap map_a;  // (m, k), of packed A
#else
    TensorMap map_a;  // (m, k)
#endif
#if GEMM_PACK_B
    TensorMap map_b;  // (k, n), of packed B
#else
    TensorMap map_b;  // (k, n)
#endif
#if GEMM_STORE_TMA
    TensorMap map_d;  // (m, n), boxes of a slice, see the epilogue
#if GEMM_REST_COLUMNS
    TensorMap map_d_rest;  // boxes of the narrower last slice of a row
#endif
#endif
#if GEMM_C_TMA
    TensorMap map_c;  // (m, n), or one row, boxes of a panel
#if GEMM_REST_COLUMNS
    TensorMap map_c_rest;  // boxes of the narrower last panel of a row
#endif
#elif GEMM_BROADCAST_C && GEMM_SWAP_AB
    const ElementC* c;  // (m)
#elif GEMM_BROADCAST_C
    const ElementC* c;  // (n)
#elif GEMM_HAS_C
    const ElementC* c;  // (m, n), row pitch ldc
#endif
#if !GEMM_STORE_TMA
    ElementD* d;  // (m, n), row pitch ldd
#endif
#if GEMM_PACK_A
    const Bits* a;  // (m, k)
#endif
#if GEMM_PACK_B
    const Bits* b;  // (k, n)
#endif
#if GEMM_WORKSPACE
    char* workspace;
#endif
#if GEMM_STREAM_K
    unsigned* counters;  // zeros, before a launch and after it
#endif
    int m, n, k;
#if GEMM_PACK_A
    long long lda;
#endif
#if GEMM_PACK_B
    long long ldb;
#endif
#if GEMM_C_TMA
    long long ldc;  // 0: all rows of C are one
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
#if !GEMM_SLICE_OF_SUMS
using OutputTile = GemmArgs;  // what the epilogue is told of D
#endif
