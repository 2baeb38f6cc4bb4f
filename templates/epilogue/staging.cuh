#pragma once
#if GEMM_SWAP_AB
constexpr int kStagers = 128;  // threads that fill a slice together: a warpgroup
#else
constexpr int kStagers = 32;  // threads that fill a slice together: a warp
#endif
constexpr int kSliceBytes = kStagers / 2 * kSliceColumns * static_cast<int>(sizeof(Staged));  // 16 rows per warp

// Their part of shared memory, (kSlices) slices that they fill in turn.
struct Staging {
    unsigned first;
    unsigned next;

#if GEMM_OVERLAPPED
    Staging() = default;
#endif
    __device__ __forceinline__ explicit Staging(unsigned staging)
        : first(staging + threadIdx.x / kStagers * (kSlices * kSliceBytes)), next(first) {}

    __device__ __forceinline__ unsigned take() {
        const unsigned slice = next;
        next = slice == first + (kSlices - 1) * kSliceBytes ? first : slice + kSliceBytes;
        return slice;
    }
};
