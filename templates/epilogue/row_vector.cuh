#pragma once

// One row of elements, the same for all rows of D. A warp reads a tile's part of it at once, while the last wgmmas run:
// lane l has pair l of every 64 columns. It passes each thread the elements for its sums.
template <typename Pair>
struct RowVector {
    static constexpr int kRegisters = (kWarpgroupN + 63) / 64;
    Pair pairs[kRegisters];

    // The part that begins at a column of D. Nothing is read from `end` on.
    __device__ __forceinline__ RowVector(const typename Pair::Element* vector, int column, int end, bool is_read,
                                         int lane) {
        column += lane * 2;
        const int left = is_read ? end - column : 0;
        vector += column;
#pragma unroll
        for (int i = 0; i < kRegisters; ++i) pairs[i] = Pair::load(vector + i * 64, left - i * 64);
    }

    // A thread's elements for the j-th atom of a slice.
    __device__ __forceinline__ float2 pair(int slice, int j, int lane) const {
        const int column = slice * kSliceColumns + j * 8;
        return pairs[column / 64].of_lane(column % 64 / 2 + lane % 4).to_floats();
    }
};
