#pragma once

#if GEMM_PAIRS && GEMM_SWAP_AB
constexpr int kSliceBytes = kStagers / 4 * kSliceColumns * static_cast<int>(sizeof(Staged));  // eight rows per warp
#elif GEMM_STAGED_OUTPUTS
constexpr int kSliceBytesOfD = kStagers / 2 * kSliceColumns * static_cast<int>(sizeof(Staged));  // 16 rows per warp
constexpr int kSliceBytes = kSliceBytesOfD + kStagers / 2 * kSliceColumns * kOutputBytes;  // with the other outputs'
#elif GEMM_SYMMETRIC
constexpr int kSliceBytesOfD = kStagers / 2 * kSliceColumns * static_cast<int>(sizeof(Staged));  // 16 rows per warp
constexpr int kSliceBytes = 2 * kSliceBytesOfD;  // with the mirror
#else
constexpr int kSliceBytes = kStagers / 2 * kSliceColumns * static_cast<int>(sizeof(Staged));  // 16 rows per warp
#endif
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
