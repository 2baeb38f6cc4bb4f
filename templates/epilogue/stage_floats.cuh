#pragma once
#include "epilogue/store_float_pair.cuh"

// Writes the j-th eight columns to a slice of f32: a thread's pairs in rows g and g + 8.
template <int kColumns>
__device__ __forceinline__ void stage_floats(unsigned slice, const Atom& atom, int j, int lane) {
    constexpr bool kSwizzled = kColumns == kSliceColumns;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair)
        store_shared(
            chunk_address<kColumns * 4, kSwizzled>(slice, lane / 4 + pair * 8, j * 2 + lane % 4 / 2) + lane % 2 * 8,
            atom.pair[pair]);
}
