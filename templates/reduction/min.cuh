#pragma once

// A reduction to the least value. One NaN makes it NaN.
struct Min {
    __device__ __forceinline__ static float of_nothing() { return __int_as_float(0x7f800000); }  // infinity
    __device__ __forceinline__ static float of(float x, float y) {
        float result;
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
        return result;
    }
};
