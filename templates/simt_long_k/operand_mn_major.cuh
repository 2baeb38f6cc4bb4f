#pragma once

template <int kFloats>
struct alignas(kFloats * sizeof(float)) Piece {
    float element[kFloats];
};

// The tiles of an operand with M or N contiguous: (kBlockK, kExtent) in global and in shared memory, a row per k. A
// thread has pieces of kPiece neighbours, and those of kLanes lanes lie side by side.
template <int kExtent, int kElements, int kLanes, int kVector, int kPitch, int kPiece>
struct MNMajorOperand : TileCopy<kBlockK, kExtent, kVector, kPitch> {
    using Copy = TileCopy<kBlockK, kExtent, kVector, kPitch>;

    __device__ __forceinline__ MNMajorOperand(const float* matrix, long long ld, int first, long long first_k)
        : Copy(matrix + first_k * ld + first, ld, kSplitK * kBlockK * ld) {}

    // Issues a step's copies of the next k-tile. `extent` by `k` of the tile lie in the matrix.
    __device__ __forceinline__ void issue(float* stage, int extent, int k) { Copy::issue(stage, k, extent); }

    static __device__ __forceinline__ const float* of_step(const float* from, int step) {
        return from + step * kStepK * kPitch;
    }

    // A thread's elements of a step's four k.
    static __device__ __forceinline__ void load(float (&fragment)[4][kElements], const float* first) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int i = 0; i < kElements; i += kPiece) {
                const float* from = first + k * kPitchK * kPitch + i * kLanes;
                const Piece<kPiece> piece = *reinterpret_cast<const Piece<kPiece>*>(from);
#pragma unroll
                for (int j = 0; j < kPiece; ++j) fragment[k][i + j] = piece.element[j];
            }
    }
};
