#pragma once

// Two 16-bit neighbours of an operand, as stored: one word.
template <typename Type>
struct WordPair {
    using Element = Bits;
    unsigned bits;

#if GEMM_ODD_EDGES
    // Reads the first of them if one is left, and both if two are.
    __device__ __forceinline__ static WordPair load(const Bits* first, int left) {
        WordPair pair;
        asm volatile(
            "{ .reg .pred p, q; .reg .b16 low; setp.gt.s32 p, %2, 1; setp.eq.s32 q, %2, 1; mov.b16 low, 0; "
            "@q ld.global.b16 low, [%1]; mov.b32 %0, {low, 0}; @p ld.global.b32 %0, [%1]; }"
            : "=r"(pair.bits)
            : "l"(first), "r"(left));
        return pair;
    }
#else
    // Reads them if some are left: these are two then.
    __device__ __forceinline__ static WordPair load(const Bits* first, int left) {
        WordPair pair;
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.b32 %0, 0; @p ld.global.b32 %0, [%1]; }"
                     : "=r"(pair.bits)
                     : "l"(first), "r"(static_cast<int>(left > 0)));
        return pair;
    }
#endif
    __device__ __forceinline__ float2 to_floats() const {
        return make_float2(Type::to_float(static_cast<Bits>(bits)), Type::to_float(static_cast<Bits>(bits >> 16)));
    }
#if GEMM_ROW_VECTORS
    __device__ __forceinline__ WordPair of_lane(int lane) const { return {__shfl_sync(0xffffffff, bits, lane)}; }
#endif
};
