#pragma once
#if GEMM_HAS_C
// D (m, n) = alpha * A (m, k) * B (k, n) + beta * C (m, n), row-major D and C. Leading dimensions count elements; pointers are
// aligned as the kernel's name says.
#else
// D (m, n) = alpha * A (m, k) * B (k, n), row-major D. Leading dimensions count elements; pointers are aligned as the kernel's
// name says.
#endif
struct GemmArgs {
#if GEMM_TYPE_AB == 2
    const float* a;  // (m, k)
    const float* b;  // (k, n)
#else
    const Bits* a;  // (m, k)
    const Bits* b;  // (k, n)
#endif
#if GEMM_HAS_C
    const ElementC* c;  // (m, n), row pitch ldc
#endif
    ElementD* d;  // (m, n), row pitch ldd
#if GEMM_WORKSPACE
    char* workspace;
#endif
#if GEMM_STREAM_K
    unsigned* counters;  // zeros, before a launch and after it
#endif
    int m, n, k;
    long long lda, ldb;  // A row-major: pitch of its rows; column-major: of its columns. B likewise.
#if GEMM_HAS_C
    long long ldc;
#endif
    long long ldd;
    float alpha;
#if GEMM_HAS_C
    float beta;
#endif
};
