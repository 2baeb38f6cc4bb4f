#pragma once

// Elements of an f16 operand.
struct F16 {
#if GEMM_READ_PARTS
    using Element = Bits;
#endif
    __device__ __forceinline__ static float to_float(Bits value) {
        float result;
        asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
        return result;
    }
};
