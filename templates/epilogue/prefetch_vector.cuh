#pragma once

// Fetches a vector's elements from `first` to `end` into L1, long before a warp reads them.
template <typename Element>
__device__ __forceinline__ void prefetch_vector(const Element* vector, int first, int end) {
    constexpr int kLine = 128 / sizeof(Element);
#pragma unroll 1
    for (int i = first; i < end; i += kLine) asm volatile("prefetch.global.L1 [%0];" ::"l"(vector + i));
}
