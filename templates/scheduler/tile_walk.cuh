#pragma once
#include "scheduler/block_tiles.cuh"

// Deals out the tiles of D: cluster c takes tiles c, c + clusters, ... in the order of rasterization.
struct TileWalk : BlockTiles {
    unsigned index;  // of the current one
    unsigned count;
#if GEMM_OVERLAPPED
    int k_tiles;  // of each tile, at least two: beyond K they hold zeros
#else
    int k_tiles;  // of each tile, at least one, which holds zeros where K is 0
#endif

    __device__ __forceinline__ TileWalk(const GemmArgs& args, const SharedMemory& /*shared*/)
        : BlockTiles(args), index(cluster), count(tiles.m * tiles.n) {
#if GEMM_BATCHED
        count *= args.batch;  // those of the first problem come first
#endif
#if GEMM_OVERLAPPED
        k_tiles = max(2, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#else
        k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#endif
    }

    __device__ __forceinline__ bool has_tile() const { return index < count; }
    __device__ __forceinline__ void next() { index += clusters; }
#if GEMM_TILE_PANELS
    __device__ __forceinline__ bool ends_tile() const { return true; }
#endif
    __device__ __forceinline__ Tile tile() const { return block_tile(index, 0, k_tiles); }
};
