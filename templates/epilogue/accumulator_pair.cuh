#pragma once
#if GEMM_ACCUMULATOR_F16
__device__ __forceinline__ float2 unpack_f16x2(unsigned pair) {
    float2 result;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(result.x), "=f"(result.y)
        : "r"(pair));
    return result;
}

#endif
// Accumulators (0, 1) or (2, 3) of an atom: columns 2t and 2t + 1 of row g or g + 8. Here g is lane / 4, and t is
// lane % 4.
#if GEMM_STAGED_INTEGERS
__device__ __forceinline__ int2 accumulator_pair(const Accumulator* atom, int pair) {
    return make_int2(atom[2 * pair], atom[2 * pair + 1]);
}
#else
__device__ __forceinline__ float2 accumulator_pair(const Accumulator* atom, int pair) {
#if GEMM_ACCUMULATOR_F16
    return unpack_f16x2(atom[pair]);
#elif GEMM_ACCUMULATOR_S32
    return make_float2(static_cast<float>(atom[2 * pair]), static_cast<float>(atom[2 * pair + 1]));
#else
    return make_float2(atom[2 * pair], atom[2 * pair + 1]);
#endif
}
#endif
