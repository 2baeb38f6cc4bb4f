#pragma once

// A 16-bit element where it is wanted, else 0. The load has a predicate: with branches, loads would wait for one
// another.
__device__ __forceinline__ Bits load_if(const Bits* address, bool is_wanted) {
    Bits element;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.u16 %0, 0; @p ld.global.u16 %0, [%1]; }"
                 : "=h"(element)
                 : "l"(address), "r"(static_cast<int>(is_wanted)));
    return element;
}
