#pragma once

// Stores two f32 neighbours of a row from registers, or the first if only one is left. `kByPair`: they lie at a
// multiple of their bytes.
template <bool kByPair>
__device__ __forceinline__ void store_neighbours(float* first, int left, float2 pair) {
    if (kByPair && left > 1) {
        *reinterpret_cast<float2*>(first) = pair;
    } else {
        if (left > 0) first[0] = pair.x;
        if (left > 1) first[1] = pair.y;
    }
}
