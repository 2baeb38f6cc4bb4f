#pragma once

// Two neighbours of an f32 operand.
struct FloatPair {
    using Element = float;
    float x, y;

#if GEMM_ODD_EDGES
    // Reads the first of them if one is left, and both if two are.
    __device__ __forceinline__ static FloatPair load(const float* first, int left) {
        FloatPair pair;
        asm volatile(
            "{ .reg .pred p, q; setp.gt.s32 p, %3, 1; setp.eq.s32 q, %3, 1; mov.f32 %0, 0f00000000; "
            "mov.f32 %1, 0f00000000; @q ld.global.f32 %0, [%2]; @p ld.global.v2.f32 {%0, %1}, [%2]; }"
            : "=f"(pair.x), "=f"(pair.y)
            : "l"(first), "r"(left));
        return pair;
    }
#else
    // Reads them if some are left: these are two then.
    __device__ __forceinline__ static FloatPair load(const float* first, int left) {
        FloatPair pair;
        asm volatile(
            "{ .reg .pred p; setp.ne.s32 p, %3, 0; mov.f32 %0, 0f00000000; mov.f32 %1, 0f00000000; "
            "@p ld.global.v2.f32 {%0, %1}, [%2]; }"
            : "=f"(pair.x), "=f"(pair.y)
            : "l"(first), "r"(static_cast<int>(left > 0)));
        return pair;
    }
#endif
    __device__ __forceinline__ float2 to_floats() const { return make_float2(x, y); }
#if GEMM_ROW_VECTORS
    __device__ __forceinline__ FloatPair of_lane(int lane) const {
        return {__shfl_sync(0xffffffff, x, lane), __shfl_sync(0xffffffff, y, lane)};
    }
#endif
};
