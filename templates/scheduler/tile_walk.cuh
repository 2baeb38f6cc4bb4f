#pragma once
#include "scheduler/block_tiles.cuh"
// The tiles of D, dealt out: cluster c of all takes tiles c, c + clusters, ... in the order of rasterization.
struct TileWalk : BlockTiles {
    unsigned tile;  // the current one
    unsigned count;
#if GEMM_OVERLAPPED
    int k_tiles;  // of each, two at least: what lies beyond K is zeros
#else
    int k_tiles;  // of each; where there is no K, one of zeros
#endif

    __device__ __forceinline__ explicit TileWalk(const GemmArgs& args)
        : BlockTiles(args), tile(cluster), count(tiles.m * tiles.n) {
#if GEMM_OVERLAPPED
        k_tiles = max(2, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#else
        k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#endif
    }

    __device__ __forceinline__ bool has_tile() const { return tile < count; }
    __device__ __forceinline__ void next() { tile += clusters; }
#if GEMM_C_TMA
    __device__ __forceinline__ bool ends_tile() const { return true; }
#endif
    __device__ __forceinline__ TileOrigin origin() const { return origin_of(tile); }
    __device__ __forceinline__ int first_k(int k_tile) const { return k_tile * kBlockK; }
};
