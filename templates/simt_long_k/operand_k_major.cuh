#pragma once

// The tiles of an operand with K contiguous: (kExtent, kBlockK) in global and in shared memory.
template <int kExtent, int kElements, int kLanes, int kVector, int kPitch>
struct KMajorOperand : TileCopy<kExtent, kBlockK, kVector, kPitch> {
    using Copy = TileCopy<kExtent, kBlockK, kVector, kPitch>;

    __device__ __forceinline__ KMajorOperand(const float* matrix, long long ld, int first, long long first_k)
        : Copy(matrix + first * ld + first_k, ld, kSplitK * kBlockK) {}

    // Issues a step's copies of the next k-tile. `extent` by `k` of the tile lie in the matrix.
    __device__ __forceinline__ void issue(float* stage, int extent, int k) { Copy::issue(stage, extent, k); }

    static __device__ __forceinline__ const float* of_step(const float* from, int step) { return from + step * kStepK; }

    // A thread's elements of a step's four k: four neighbours of a row at once.
    static __device__ __forceinline__ void load(float (&fragment)[4][kElements], const float* first) {
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            const float4 four = *reinterpret_cast<const float4*>(first + i * (kLanes * kPitch));
            fragment[0][i] = four.x;
            fragment[1][i] = four.y;
            fragment[2][i] = four.z;
            fragment[3][i] = four.w;
        }
    }
};
