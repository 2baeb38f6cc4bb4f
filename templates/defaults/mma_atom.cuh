#pragma once
// Defaults, so that a template compiles alone. A rendering puts the wrappers of the instructions it uses here.
#if GEMM_TYPE_AB == 1
#define GEMM_ATOM_TYPE "bf16"
#else
#define GEMM_ATOM_TYPE "f16"
#endif
#if GEMM_ACCUMULATOR_F16
#define GEMM_ATOM_TYPES "f16." GEMM_ATOM_TYPE "." GEMM_ATOM_TYPE ".f16"
#else
#define GEMM_ATOM_TYPES "f32." GEMM_ATOM_TYPE "." GEMM_ATOM_TYPE ".f32"
#endif

__device__ __forceinline__ void mma(Accumulator* c, const unsigned* a, const unsigned* b) {
#if GEMM_ACCUMULATOR_F16
#if GEMM_MMA_K == 16
    asm volatile("mma.sync.aligned.m16n8k16.row.col." GEMM_ATOM_TYPES " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col." GEMM_ATOM_TYPES " {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#endif
#else
#if GEMM_MMA_K == 16
    asm volatile("mma.sync.aligned.m16n8k16.row.col." GEMM_ATOM_TYPES
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col." GEMM_ATOM_TYPES
                 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#endif
#endif
}

#if GEMM_A_K_MAJOR
#define GEMM_TRANS_A ""
#else
#define GEMM_TRANS_A ".trans"
#endif
__device__ __forceinline__ void ldmatrix_a(unsigned* r, unsigned address) {
#if GEMM_LDMATRIX_A == 4
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" GEMM_TRANS_A ".shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
#elif GEMM_LDMATRIX_A == 2
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" GEMM_TRANS_A ".shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address)
                 : "memory");
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" GEMM_TRANS_A ".shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(address)
                 : "memory");
#endif
}

#if GEMM_B_K_MAJOR
#define GEMM_TRANS_B ""
#else
#define GEMM_TRANS_B ".trans"
#endif
__device__ __forceinline__ void ldmatrix_b(unsigned* r, unsigned address) {
#if GEMM_LDMATRIX_B == 4
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" GEMM_TRANS_B ".shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
#elif GEMM_LDMATRIX_B == 2
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" GEMM_TRANS_B ".shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address)
                 : "memory");
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" GEMM_TRANS_B ".shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(address)
                 : "memory");
#endif
}
