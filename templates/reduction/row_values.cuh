#pragma once

// A warp's reduction over columns of its 16 rows.
template <typename Kind>
struct RowValues {
    float values[2] = {Kind::of_nothing(), Kind::of_nothing()};  // of this thread's columns in rows g and g + 8

    // Takes a thread's pair of an atom, in row g (pair 0) or g + 8 (pair 1). Only the first `left` of the two are
    // elements of D.
    __device__ __forceinline__ void take(float x, float y, int left, int pair) {
        const float first = left > 0 ? x : Kind::of_nothing(), second = left > 1 ? y : Kind::of_nothing();
        values[pair] = Kind::of(values[pair], Kind::of(first, second));
    }

    // Then all four lanes of a row have its value.
    __device__ __forceinline__ void combine() {
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
#pragma unroll
            for (int other = 1; other < 4; other *= 2)
                values[pair] = Kind::of(values[pair], __shfl_xor_sync(0xffffffff, values[pair], other));
    }
};
