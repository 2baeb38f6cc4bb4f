#pragma once

// A value that divides many others. The division operator branches to a slow path for very large and very small
// numbers. Divisor scales the value once, so that the elements need no such branch.
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

// x divided by the given divisor. Normal quotients are rounded to nearest. Those near or below 2^-126 may be one unit
// off. If the divisor is 0, or one of the two is infinite, the remainder is NaN. Then `quotient` is the result.
__device__ __forceinline__ float over(float x, const Divisor& divisor) {
    const float scaled = x * divisor.scale;
    const float quotient = scaled * divisor.inverse;
    const float nearest = fmaf(fmaf(-quotient, divisor.value, scaled), divisor.inverse, quotient);
    return nearest == nearest ? nearest : quotient;
}
