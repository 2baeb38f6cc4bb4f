#pragma once
// Default, so that the template compiles alone: 64x128x16 of bf16, f32 sums. A rendering puts the wrapper of its
// instruction here.
#define GEMM_ATOM_SUMS                                                                                               \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "     \
    "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, " \
    "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
#define GEMM_ATOM_OUTPUTS                                                                                       \
    "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), \
        "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),  \
        "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), \
        "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), \
        "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), \
        "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), \
        "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), \
        "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
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
#elif GEMM_ELEMENT_BYTES == 1
__device__ __forceinline__ void wgmma(Accumulator* c, unsigned long long a, unsigned long long b, bool add) {
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %66, 0; "
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 " GEMM_ATOM_SUMS "%64, %65, add, 1, 1; }"
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
