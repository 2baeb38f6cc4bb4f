#pragma once

// Elements of an f32 operand.
struct F32 {
    using Element = float;
    __device__ __forceinline__ static float to_float(float value) { return value; }
};
