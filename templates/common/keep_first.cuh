#pragma once

// Keeps the first `elements` of eight and zeros the rest. At the end of K, elements behind it must not count.
__device__ __forceinline__ uint4 keep_first(const uint4& value, int elements) {
    unsigned w[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = elements >= 2 * i + 2 ? w[i] : elements == 2 * i + 1 ? w[i] & 0xffffu : 0;
    return make_uint4(w[0], w[1], w[2], w[3]);
}
