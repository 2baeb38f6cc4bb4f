#pragma once

// Elements of a bf16 operand.
struct Bf16 {
#if GEMM_READ_PARTS
    using Element = Bits;
#endif
    __device__ __forceinline__ static float to_float(Bits value) {
        return __uint_as_float(static_cast<unsigned>(value) << 16);
    }
};
