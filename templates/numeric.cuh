#pragma once
#if GEMM_MMA_K || GEMM_STORE_BITS || GEMM_TYPE_C < 2
// Conversions are inline PTX or bit operations, so that no toolkit header is needed.
#endif
#if GEMM_TYPE_C == 0
__device__ __forceinline__ float c_to_float(Bits value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
    return result;
}
#elif GEMM_TYPE_C == 1
__device__ __forceinline__ float c_to_float(Bits value) { return __uint_as_float(static_cast<unsigned>(value) << 16); }
#elif GEMM_TYPE_C == 2
__device__ __forceinline__ float c_to_float(float value) { return value; }
#endif

#if GEMM_TYPE_D == 0
// Two results as they lie in memory: `low` first.
__device__ __forceinline__ unsigned pack_d(float low, float high) {
    unsigned result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}
#elif GEMM_TYPE_D == 1
// Two results as they lie in memory: `low` first.
__device__ __forceinline__ unsigned pack_d(float low, float high) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}
#endif
#if GEMM_STORE_BITS
__device__ __forceinline__ void store(Bits* d, float value) { *d = static_cast<Bits>(pack_d(value, 0.0f)); }
#endif
#if GEMM_STORE_FLOAT
__device__ __forceinline__ void store(float* d, float value) { *d = value; }
#endif
#if GEMM_MMA_K

#if GEMM_WMMA
#if GEMM_ACCUMULATOR_F16
// A sum as wmma.store lays it into shared memory.
__device__ __forceinline__ float to_float(Bits sum) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(sum));
    return result;
}
#else
// A sum as wmma.store lays it into shared memory is one already.
__device__ __forceinline__ float to_float(float sum) { return sum; }
#endif
#else
#if GEMM_ACCUMULATOR_F16
__device__ __forceinline__ float2 unpack_f16x2(unsigned pair) {
    float2 result;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(result.x), "=f"(result.y) : "r"(pair));
    return result;
}
#endif

// Accumulators (0, 1) or (2, 3) of an atom: columns 2t and 2t + 1 of row g or g + 8.
__device__ __forceinline__ float2 accumulator_pair(const Accumulator* atom, int half) {
#if GEMM_ACCUMULATOR_F16
    return unpack_f16x2(atom[half]);
#else
    return make_float2(atom[2 * half], atom[2 * half + 1]);
#endif
}
#endif
#endif
