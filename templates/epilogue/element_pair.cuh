#pragma once

// Two neighbours of an operand, as stored. They are read one by one: they may lie at any address.
template <typename Type>
struct ElementPair {
    using Element = typename Type::Element;
    Element x, y;

    // Reads the first of them if one is left, and both if two are.
    __device__ __forceinline__ static ElementPair load(const Element* first, int left) {
        return {load_if(first, left > 0), load_if(first + 1, left > 1)};
    }
    __device__ __forceinline__ float2 to_floats() const { return make_float2(Type::to_float(x), Type::to_float(y)); }
#if GEMM_ROW_VECTORS
    __device__ __forceinline__ ElementPair of_lane(int lane) const {
        return {static_cast<Element>(__shfl_sync(0xffffffff, x, lane)),
                static_cast<Element>(__shfl_sync(0xffffffff, y, lane))};
    }
#endif
};
