#pragma once
#include "common/chunk.cuh"
#include "common/chunks.cuh"

// Reads the first `elements` (at least one) of a vector one by one, and fills the rest with the last of them.
__device__ __forceinline__ uint4 load_elements(const Bits* vector, int elements) {
    unsigned words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const unsigned low = vector[min(2 * i, elements - 1)];
        const unsigned high = vector[min(2 * i + 1, elements - 1)];
        words[i] = low | high << 16;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Keeps the first `elements` of eight and zeros the rest. At the end of K, elements behind it must not count.
__device__ __forceinline__ uint4 keep_first(const uint4& value, int elements) {
    unsigned w[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = elements >= 2 * i + 2 ? w[i] : elements == 2 * i + 1 ? w[i] & 0xffffu : 0;
    return make_uint4(w[0], w[1], w[2], w[3]);
}
