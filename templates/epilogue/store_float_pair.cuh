#pragma once

__device__ __forceinline__ void store_shared(unsigned address, float2 pair) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(pair.x), "f"(pair.y) : "memory");
}
