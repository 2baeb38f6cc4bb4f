#pragma once

GEMM_BYTES_OF_SLICE();
constexpr int kSlicesOfRow = (kWarpgroupN + kSliceColumns - 1) / kSliceColumns;  // of a warpgroup tile

// The stagers' part of shared memory: (kSlices) slices, which they fill in turn.
struct Staging {
    unsigned first;
    unsigned next;

    __device__ __forceinline__ explicit Staging(unsigned staging)
        : first(staging + threadIdx.x / kStagers * (kSlices * kSliceBytes)), next(first) {}

    __device__ __forceinline__ unsigned take() {
        const unsigned slice = next;
        next = slice == first + (kSlices - 1) * kSliceBytes ? first : slice + kSliceBytes;
        return slice;
    }
};
