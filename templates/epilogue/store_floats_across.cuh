#pragma once

// Stores two f32 elements from registers that lie a pitch apart, or the first if only one is left.
__device__ __forceinline__ void store_across(float* first, long long pitch, int left, float2 pair) {
    if (left > 0) first[0] = pair.x;
    if (left > 1) first[pitch] = pair.y;
}
