#pragma once
// Default, so that the template compiles alone: 64x128x16 of bf16, f32 sums. A rendering puts the wrapper of its
// instruction here.
#define GEMM_ATOM_SUMS                                                                                               \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "     \
    "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, " \
    "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
#if GEMM_ACCUMULATOR_S32
#define GEMM_ATOM_SUM "+r"
#else
#define GEMM_ATOM_SUM "+f"
#endif
#define GEMM_ATOM_OUTPUTS                                                                                             \
    GEMM_ATOM_SUM(c[0]), GEMM_ATOM_SUM(c[1]), GEMM_ATOM_SUM(c[2]), GEMM_ATOM_SUM(c[3]), GEMM_ATOM_SUM(c[4]),          \
        GEMM_ATOM_SUM(c[5]), GEMM_ATOM_SUM(c[6]), GEMM_ATOM_SUM(c[7]), GEMM_ATOM_SUM(c[8]), GEMM_ATOM_SUM(c[9]),      \
        GEMM_ATOM_SUM(c[10]), GEMM_ATOM_SUM(c[11]), GEMM_ATOM_SUM(c[12]), GEMM_ATOM_SUM(c[13]), GEMM_ATOM_SUM(c[14]), \
        GEMM_ATOM_SUM(c[15]), GEMM_ATOM_SUM(c[16]), GEMM_ATOM_SUM(c[17]), GEMM_ATOM_SUM(c[18]), GEMM_ATOM_SUM(c[19]), \
        GEMM_ATOM_SUM(c[20]), GEMM_ATOM_SUM(c[21]), GEMM_ATOM_SUM(c[22]), GEMM_ATOM_SUM(c[23]), GEMM_ATOM_SUM(c[24]), \
        GEMM_ATOM_SUM(c[25]), GEMM_ATOM_SUM(c[26]), GEMM_ATOM_SUM(c[27]), GEMM_ATOM_SUM(c[28]), GEMM_ATOM_SUM(c[29]), \
        GEMM_ATOM_SUM(c[30]), GEMM_ATOM_SUM(c[31]), GEMM_ATOM_SUM(c[32]), GEMM_ATOM_SUM(c[33]), GEMM_ATOM_SUM(c[34]), \
        GEMM_ATOM_SUM(c[35]), GEMM_ATOM_SUM(c[36]), GEMM_ATOM_SUM(c[37]), GEMM_ATOM_SUM(c[38]), GEMM_ATOM_SUM(c[39]), \
        GEMM_ATOM_SUM(c[40]), GEMM_ATOM_SUM(c[41]), GEMM_ATOM_SUM(c[42]), GEMM_ATOM_SUM(c[43]), GEMM_ATOM_SUM(c[44]), \
        GEMM_ATOM_SUM(c[45]), GEMM_ATOM_SUM(c[46]), GEMM_ATOM_SUM(c[47]), GEMM_ATOM_SUM(c[48]), GEMM_ATOM_SUM(c[49]), \
        GEMM_ATOM_SUM(c[50]), GEMM_ATOM_SUM(c[51]), GEMM_ATOM_SUM(c[52]), GEMM_ATOM_SUM(c[53]), GEMM_ATOM_SUM(c[54]), \
        GEMM_ATOM_SUM(c[55]), GEMM_ATOM_SUM(c[56]), GEMM_ATOM_SUM(c[57]), GEMM_ATOM_SUM(c[58]), GEMM_ATOM_SUM(c[59]), \
        GEMM_ATOM_SUM(c[60]), GEMM_ATOM_SUM(c[61]), GEMM_ATOM_SUM(c[62]), GEMM_ATOM_SUM(c[63])
#if GEMM_A_IN_REGISTERS
__device__ __forceinline__ void wgmma(Accumulator* c, const unsigned* a, unsigned long long b, bool add) {
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %69, 0; "
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " GEMM_ATOM_SUMS
        "{%64, %65, %66, %67}, %68, add, 1, 1, %70; }"
        : GEMM_ATOM_OUTPUTS
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)), "n"(!GEMM_B_K_MAJOR));
}

__device__ __forceinline__ void ldmatrix_a(unsigned* r, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}
#elif GEMM_TYPE_AB == 6
__device__ __forceinline__ void wgmma(Accumulator* c, unsigned long long a, unsigned long long b, bool add) {
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %66, 0; "
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 " GEMM_ATOM_SUMS "%64, %65, add; }"
        : GEMM_ATOM_OUTPUTS
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
#elif GEMM_ELEMENT_BYTES == 1
__device__ __forceinline__ void wgmma(Accumulator* c, unsigned long long a, unsigned long long b, bool add) {
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %66, 0; "
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 " GEMM_ATOM_SUMS "%64, %65, add, 1, 1; }"
        : GEMM_ATOM_OUTPUTS
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
#elif GEMM_ELEMENT_BYTES == 4
__device__ __forceinline__ void wgmma(Accumulator* c, unsigned long long a, unsigned long long b, bool add) {
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %66, 0; "
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 " GEMM_ATOM_SUMS "%64, %65, add, 1, 1; }"
        : GEMM_ATOM_OUTPUTS
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
#else
__device__ __forceinline__ void wgmma(Accumulator* c, unsigned long long a, unsigned long long b, bool add) {
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %66, 0; "
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " GEMM_ATOM_SUMS "%64, %65, add, 1, 1, %67, %68; }"
        : GEMM_ATOM_OUTPUTS
        : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(!GEMM_A_K_MAJOR), "n"(!GEMM_B_K_MAJOR));
}
#endif
#if GEMM_SWAP_AB
#define GEMM_STMATRIX_TRANS ".trans"
#else
#define GEMM_STMATRIX_TRANS ""
#endif
#if GEMM_STMATRIX
__device__ __forceinline__ void stmatrix(unsigned address, const unsigned (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4" GEMM_STMATRIX_TRANS
                 ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}
#endif
#if GEMM_STMATRIX_X2
__device__ __forceinline__ void stmatrix(unsigned address, const unsigned (&r)[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2" GEMM_STMATRIX_TRANS ".shared.b16 [%0], {%1, %2};" ::"r"(address),
                 "r"(r[0]), "r"(r[1])
                 : "memory");
}
#endif
#if GEMM_SYMMETRIC && GEMM_STMATRIX
__device__ __forceinline__ void stmatrix_transposed(unsigned address, const unsigned (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r[0]),
                 "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}
#endif
