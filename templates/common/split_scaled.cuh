#pragma once

// 2^exponent, for exponents from -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
    return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}

// The power of two of a line, as two factors: f32 may not hold their product.
struct LineScale {
    float first, second;
    float2 inverse;

    // `largest` is the largest element without its sign, as bits. A line of zeros, of Inf or of NaN has the factor 1.
    __device__ __forceinline__ explicit LineScale(unsigned largest) {
        int exponent = 0;
        if (largest != 0 && largest < 0x7f800000) {
            const int of_subnormal = 31 - __clz(static_cast<int>(largest)) - 149;
            exponent = 14 - (largest < 0x800000 ? of_subnormal : static_cast<int>(largest >> 23) - 127);
        }
        const int half = exponent >> 1;
        first = power_of_two(half);
        second = power_of_two(exponent - half);
        inverse = make_float2(power_of_two(-half), power_of_two(half - exponent));
    }

    template <int kCount>
    __device__ __forceinline__ void apply(float (&x)[kCount]) const {
#pragma unroll
        for (int i = 0; i < kCount; ++i) x[i] = x[i] * first * second;
    }
};

__device__ __forceinline__ unsigned without_sign(float x) { return __float_as_uint(x) & 0x7fffffff; }
#include "split_pair.cuh"

// The next part of eight neighbours. Leaves the rest in x.
__device__ __forceinline__ uint4 take_part(float* x) {
    unsigned rounded[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float& low = x[2 * i];
        float& high = x[2 * i + 1];
        rounded[i] = round_pair(low, high);
        const float2 pair = pair_to_floats(rounded[i]);
        low -= pair.x;
        high -= pair.y;
    }
    return make_uint4(rounded[0], rounded[1], rounded[2], rounded[3]);
}

constexpr int kChunkElements = 8;  // of a part, in 16 bytes
