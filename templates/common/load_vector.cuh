#pragma once
// Eight elements, of which only the first `elements` lie inside the matrix: the others are not read but zero.
__device__ __forceinline__ uint4 load_vector(const Bits* source, int elements) {
    if (elements >= 8) return *reinterpret_cast<const uint4*>(source);
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i)
        if (i < elements) words[i / 2] |= static_cast<unsigned>(source[i]) << i % 2 * 16;
    return make_uint4(words[0], words[1], words[2], words[3]);
}
