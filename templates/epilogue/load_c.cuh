#pragma once

// An element of C where it is wanted, else 0. The load has a predicate: with branches, loads would wait for one
// another.
__device__ __forceinline__ ElementC load_c(const ElementC* c, bool is_wanted) {
    ElementC element;
#if GEMM_TYPE_C == 2
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.f32 %0, 0f00000000; @p ld.global.f32 %0, [%1]; }"
                 : "=f"(element)
                 : "l"(c), "r"(static_cast<int>(is_wanted)));
#else
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.u16 %0, 0; @p ld.global.u16 %0, [%1]; }"
                 : "=h"(element)
                 : "l"(c), "r"(static_cast<int>(is_wanted)));
#endif
    return element;
}
