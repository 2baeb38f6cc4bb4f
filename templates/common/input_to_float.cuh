#pragma once

// An element of A or B as f32.
#if GEMM_TYPE_AB == 0
__device__ __forceinline__ float ab_to_float(Bits value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
    return result;
}
#elif GEMM_TYPE_AB == 1
__device__ __forceinline__ float ab_to_float(Bits value) { return __uint_as_float(static_cast<unsigned>(value) << 16); }
#else
__device__ __forceinline__ float ab_to_float(float value) { return value; }
#endif
