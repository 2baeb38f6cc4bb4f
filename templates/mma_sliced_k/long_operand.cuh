#pragma once
#include "common/tile.cuh"

// A tile of D is kBlockM rows of the long operand by all of the few. A K of 0 has no k-tiles, and no maps of A and B.
__device__ __forceinline__ int k_tiles_of(const GemmArgs& args) {
    return static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK);
}

#if GEMM_LONG_B
// B is the long operand: its columns are the rows of an mma, the few rows of A its columns.
__device__ __forceinline__ const TensorMap& map_of_long(const GemmArgs& args) { return args.map_b; }
__device__ __forceinline__ const TensorMap& map_of_few(const GemmArgs& args) { return args.map_a; }
__device__ __forceinline__ unsigned tiles_of(const GemmArgs& args) { return (args.n + kBlockM - 1u) / kBlockM; }

__device__ __forceinline__ Tile tile_of(const GemmArgs& args, unsigned index) {
    return {{args.m, args.n}, 0, static_cast<int>(index) * kBlockM, 0, k_tiles_of(args)};
}

// Sums of two neighbours of the few: D's rows, which lie kPitchP apart.
__device__ __forceinline__ void lay_out_pair(float* sums, int of_long, int of_few, float2 pair) {
    sums[of_few * kPitchP + of_long] = pair.x;
    sums[(of_few + 1) * kPitchP + of_long] = pair.y;
}
#else
// A is the long operand: all columns of B, the few, meet each of its rows.
__device__ __forceinline__ const TensorMap& map_of_long(const GemmArgs& args) { return args.map_a; }
__device__ __forceinline__ const TensorMap& map_of_few(const GemmArgs& args) { return args.map_b; }
__device__ __forceinline__ unsigned tiles_of(const GemmArgs& args) { return (args.m + kBlockM - 1u) / kBlockM; }

__device__ __forceinline__ Tile tile_of(const GemmArgs& args, unsigned index) {
    return {{args.m, args.n}, static_cast<int>(index) * kBlockM, 0, 0, k_tiles_of(args)};
}

// Sums of two neighbours of the few: D's columns, which lie side by side.
__device__ __forceinline__ void lay_out_pair(float* sums, int of_long, int of_few, float2 pair) {
    *reinterpret_cast<float2*>(sums + of_long * kPitchP + of_few) = pair;
}
#endif
