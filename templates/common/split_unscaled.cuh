#pragma once

// Keeps a finite element from being rounded to Inf.
__device__ __forceinline__ float within_range(float x) { return fminf(fmaxf(x, -0x1.fep127f), 0x1.fep127f); }
#include "split_pair.cuh"

// The next part of eight neighbours: `part` parts were taken before. Leaves the rest in x.
__device__ __forceinline__ uint4 take_part(float* x, int part) {
    unsigned rounded[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float& low = x[2 * i];
        float& high = x[2 * i + 1];
        rounded[i] = part == 0 ? round_pair(within_range(low), within_range(high)) : round_pair(low, high);
        const float2 pair = pair_to_floats(rounded[i]);
        low -= pair.x;
        high -= pair.y;
    }
    return make_uint4(rounded[0], rounded[1], rounded[2], rounded[3]);
}

constexpr int kChunkElements = 8;  // of a part, in 16 bytes
