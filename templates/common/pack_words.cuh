#pragma once
#include "common/chunk.cuh"
#include "common/chunks.cuh"

using PackedElement = float;

// Reads the first `elements` (at least one) of a vector one by one, and fills the rest with the last of them.
__device__ __forceinline__ uint4 load_elements(const float* vector, int elements) {
    unsigned words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = __float_as_uint(vector[min(i, elements - 1)]);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Keeps the first `elements` of four and zeros the rest.
__device__ __forceinline__ uint4 keep_first(const uint4& value, int elements) {
    return make_uint4(value.x, elements > 1 ? value.y : 0, elements > 2 ? value.z : 0, elements > 3 ? value.w : 0);
}
#include "common/packing.cuh"
