#pragma once

// A reduction to the greatest value. One NaN makes it NaN.
struct Max {
    __device__ __forceinline__ static float of_nothing() { return __int_as_float(0xff800000); }  // -infinity
    __device__ __forceinline__ static float of(float x, float y) {
        float result;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
        return result;
    }
};
