#pragma once
// How much of a matrix lies ahead of the place that a thread has in the next k-tile.
#if GEMM_PREDICATED
struct Reach {
    int k;
    int extent;  // rows or columns of the matrix

    Reach() = default;
    __device__ __forceinline__ Reach(int k_left, int extent_left) : k(k_left), extent(extent_left) {}
    __device__ __forceinline__ bool contains_k(int along_k) const { return k > along_k; }
    __device__ __forceinline__ bool contains(int along_extent, int along_k) const {
        return extent > along_extent && k > along_k;
    }
};
#else
// The problem is whole tiles: all of a tile is there, or it lies beyond the end of K.
struct Reach {
    int k;

    Reach() = default;
    __device__ __forceinline__ Reach(int k_left, int /*extent_left*/) : k(k_left) {}
    __device__ __forceinline__ bool contains_k(int /*along_k*/) const { return k > 0; }
    __device__ __forceinline__ bool contains(int /*along_extent*/, int /*along_k*/) const { return k > 0; }
};
#endif
