#pragma once

// Reads the first `elements` of eight: only these lie inside the matrix. The others become zero.
__device__ __forceinline__ uint4 load_vector(const Bits* source, int elements) {
    if (elements >= 8) return *reinterpret_cast<const uint4*>(source);
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i)
        if (i < elements) words[i / 2] |= static_cast<unsigned>(source[i]) << i % 2 * 16;
    return make_uint4(words[0], words[1], words[2], words[3]);
}
