#pragma once

// Elements of a bf16 operand.
struct Bf16 {
    using Element = Bits;
    __device__ __forceinline__ static float to_float(Bits value) {
        return __uint_as_float(static_cast<unsigned>(value) << 16);
    }
};
