#pragma once

// Converts two neighbours to bf16, and packs them as they lie in memory: `low` first.
__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}
