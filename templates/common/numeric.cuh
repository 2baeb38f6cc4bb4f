#pragma once
#if GEMM_CONVERT_C && GEMM_TYPE_C < 2 || GEMM_TYPE_D != 2
// Conversions are inline PTX or bit operations: the kernel needs no toolkit header.

#endif
#if !GEMM_CONVERT_C
#elif GEMM_TYPE_C == 0
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
// Converts two neighbours of D and packs them as they lie in memory: `low` first.
__device__ __forceinline__ unsigned pack_d(float low, float high) {
    unsigned result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}
#elif GEMM_TYPE_D == 1
// Converts two neighbours of D and packs them as they lie in memory: `low` first.
__device__ __forceinline__ unsigned pack_d(float low, float high) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}
#elif GEMM_TYPE_D == 4
// Converts two neighbours of D and packs them as they lie in memory: `low` first. Beyond 448 they are 448.
__device__ __forceinline__ unsigned short pack_d(float low, float high) {
    unsigned short result;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(result) : "f"(high), "f"(low));
    return result;
}
#elif GEMM_TYPE_D == 5
// Converts two neighbours of D and packs them as they lie in memory: `low` first. Beyond 57344 they are 57344.
__device__ __forceinline__ unsigned short pack_d(float low, float high) {
    unsigned short result;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(result) : "f"(high), "f"(low));
    return result;
}
#elif GEMM_TYPE_D == 6
// The nearest integer from -128 to 127.
__device__ __forceinline__ int to_integer(float value) {
    int result;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(result) : "f"(value));
    return result;
}
#if GEMM_TENSOR_MAPS

// Converts two neighbours of D and packs them as they lie in memory: `low` first.
__device__ __forceinline__ unsigned short pack_d(float low, float high) {
    return static_cast<unsigned short>(to_integer(high) << 8 | (to_integer(low) & 0xff));
}
#endif
#elif GEMM_TYPE_D == 7
// The nearest 32-bit integer.
__device__ __forceinline__ int to_integer(float value) {
    int result;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(result) : "f"(value));
    return result;
}
#if GEMM_TENSOR_MAPS

// Converts two neighbours of D.
__device__ __forceinline__ int2 pack_d(float low, float high) { return make_int2(to_integer(low), to_integer(high)); }
#endif
#endif
