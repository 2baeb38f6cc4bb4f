#pragma once
#include "scheduler/block_tiles.cuh"
#if GEMM_CLUSTER > 1
// A tile of D for each cluster: there are as many of these.
#else
// A tile of D for each block: there are as many of these.
#endif
struct TileWalk : BlockTiles {
    int k_tiles;  // where there is no K, one of zeros

    __device__ __forceinline__ explicit TileWalk(const GemmArgs& args) : BlockTiles(args) {
        k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
    }

#if GEMM_C_TMA
    __device__ __forceinline__ bool ends_tile() const { return true; }
#endif
    __device__ __forceinline__ TileOrigin origin() const { return origin_of(cluster); }
    __device__ __forceinline__ int first_k(int k_tile) const { return k_tile * kBlockK; }
};
