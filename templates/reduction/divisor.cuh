#pragma once

// A value that many others are divided by. A division branches to what treats very large and very small numbers, and
// waits for that in each element. Here they are scaled once.
struct Divisor {
    float scale = 1.0f;  // a power of two, so that neither `value` nor `inverse` is subnormal
    float value = 1.0f;
    float inverse = 1.0f;

    Divisor() = default;
    __device__ __forceinline__ explicit Divisor(float divisor)
        : scale(fabsf(divisor) < 0x1p-100f  ? 0x1p100f
                : fabsf(divisor) > 0x1p100f ? 0x1p-100f
                                            : 1.0f),
          value(divisor * scale),
          inverse(1.0f / value) {}
};

// x / divisor.value, to the nearest. Of 0, infinity and NaN, `quotient` is right, and the remainder is NaN.
__device__ __forceinline__ float over(float x, const Divisor& divisor) {
    const float scaled = x * divisor.scale;
    const float quotient = scaled * divisor.inverse;
    const float nearest = fmaf(fmaf(-quotient, divisor.value, scaled), divisor.inverse, quotient);
    return nearest == nearest ? nearest : quotient;
}
