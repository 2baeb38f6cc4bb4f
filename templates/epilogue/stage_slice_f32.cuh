#pragma once

__device__ __forceinline__ void store_shared(unsigned address, float2 pair) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(pair.x), "f"(pair.y) : "memory");
}

// Writes one slice of f32. `finished(j)` gives its j-th atom of eight columns.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
        const Atom atom = finished(j);
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
            store_shared(
                chunk_address<kColumns * 4, kSwizzled>(slice, lane / 4 + pair * 8, j * 2 + lane % 4 / 2) + lane % 2 * 8,
                atom.pair[pair]);
    }
}
