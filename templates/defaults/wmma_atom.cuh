#pragma once
// Defaults, so that a template compiles alone: fragments of 16x16x16. A rendering puts the wrappers of its own shape
// here.
static_assert(kMmaM == 16 && kMmaN == 16 && kMmaK == 16, "other shapes need a rendering");
#if GEMM_A_K_MAJOR
#define GEMM_WMMA_A "row"
#else
#define GEMM_WMMA_A "col"
#endif
#if GEMM_B_K_MAJOR
#define GEMM_WMMA_B "col"
#else
#define GEMM_WMMA_B "row"
#endif
#if GEMM_TYPE_AB == 1
#define GEMM_WMMA_LOAD(operand, order) \
    "wmma.load." operand ".sync.aligned." order ".m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4 + %5], %6;"
#define GEMM_WMMA_TYPES "f32.bf16.bf16.f32"
constexpr int kRegistersA = 4;
constexpr int kRegistersB = 4;
#else
#define GEMM_WMMA_LOAD(operand, order)          \
    "wmma.load." operand ".sync.aligned." order \
    ".m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8 + %9], %10;"
#if GEMM_ACCUMULATOR_F16
#define GEMM_WMMA_TYPES "f16.f16"
#else
#define GEMM_WMMA_TYPES "f32.f32"
#endif
constexpr int kRegistersA = 8;
constexpr int kRegistersB = 8;
#endif
#if GEMM_ACCUMULATOR_F16
constexpr int kRegistersC = 4;
#else
constexpr int kRegistersC = 8;
#endif
#define GEMM_WMMA_MMA "wmma.mma.sync.aligned." GEMM_WMMA_A "." GEMM_WMMA_B ".m16n16k16." GEMM_WMMA_TYPES

#if GEMM_TYPE_AB == 1
template <int kOffset>
__device__ __forceinline__ void load_fragment_a(unsigned* r, unsigned address) {
    asm volatile(GEMM_WMMA_LOAD("a", GEMM_WMMA_A)
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address), "n"(kOffset), "n"(kPitchA / 2)
                 : "memory");
}
template <int kOffset>
__device__ __forceinline__ void load_fragment_b(unsigned* r, unsigned address) {
    asm volatile(GEMM_WMMA_LOAD("b", GEMM_WMMA_B)
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address), "n"(kOffset), "n"(kPitchB / 2)
                 : "memory");
}
#else
template <int kOffset>
__device__ __forceinline__ void load_fragment_a(unsigned* r, unsigned address) {
    asm volatile(GEMM_WMMA_LOAD("a", GEMM_WMMA_A)
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                 : "r"(address), "n"(kOffset), "n"(kPitchA / 2)
                 : "memory");
}
template <int kOffset>
__device__ __forceinline__ void load_fragment_b(unsigned* r, unsigned address) {
    asm volatile(GEMM_WMMA_LOAD("b", GEMM_WMMA_B)
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                 : "r"(address), "n"(kOffset), "n"(kPitchB / 2)
                 : "memory");
}
#endif

__device__ __forceinline__ void mma(Accumulator* c, const unsigned* a, const unsigned* b) {
#if GEMM_TYPE_AB == 1
    asm volatile(
        GEMM_WMMA_MMA
        " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
#elif GEMM_ACCUMULATOR_F16
    asm volatile(GEMM_WMMA_MMA
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]),
                   "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
#else
    asm volatile(GEMM_WMMA_MMA
                 " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15},"
                 " {%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]),
                   "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
#endif
}

__device__ __forceinline__ void store_fragment(unsigned address, const Accumulator* c) {
#if GEMM_ACCUMULATOR_F16
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%0], {%1, %2, %3, %4}, %5;" ::"r"(address),
                 "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "n"(kPitchC)
                 : "memory");
#else
    asm volatile(
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"r"(address),
        "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]), "n"(kPitchC)
        : "memory");
#endif
}
