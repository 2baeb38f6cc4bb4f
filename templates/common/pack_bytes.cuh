#pragma once
#include "common/chunk.cuh"
#include "common/chunks.cuh"

using PackedElement = Byte;

// Reads the first `elements` (at least one) of a vector one by one, and fills the rest with the last of them.
__device__ __forceinline__ uint4 load_elements(const Byte* vector, int elements) {
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < 16; ++i) words[i / 4] |= static_cast<unsigned>(vector[min(i, elements - 1)]) << i % 4 * 8;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Keeps the first `elements` of 16 and zeros the rest.
__device__ __forceinline__ uint4 keep_first(const uint4& value, int elements) {
    unsigned w[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int kept = elements - 4 * i;
        w[i] = kept >= 4 ? w[i] : kept > 0 ? w[i] & ((1u << 8 * kept) - 1) : 0;
    }
    return make_uint4(w[0], w[1], w[2], w[3]);
}
#include "common/packing.cuh"
