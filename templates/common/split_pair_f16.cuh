#pragma once

// Two neighbours as they lie in memory, rounded to 16 bits: `low` first.
__device__ __forceinline__ unsigned round_pair(float low, float high) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

__device__ __forceinline__ float2 pair_to_floats(unsigned pair) {
    float low, high;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(low), "=f"(high)
        : "r"(pair));
    return make_float2(low, high);
}
