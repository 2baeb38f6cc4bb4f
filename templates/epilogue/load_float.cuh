#pragma once

// A float where it is wanted, else 0. The load has a predicate: with branches, loads would wait for one another.
__device__ __forceinline__ float load_if(const float* address, bool is_wanted) {
    float element;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.f32 %0, 0f00000000; @p ld.global.f32 %0, [%1]; }"
                 : "=f"(element)
                 : "l"(address), "r"(static_cast<int>(is_wanted)));
    return element;
}
