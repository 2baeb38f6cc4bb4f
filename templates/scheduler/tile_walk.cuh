#pragma once
#include "scheduler/block_tiles.cuh"

// Deals out the tiles of D: cluster c takes tiles c, c + clusters, ... in the order of rasterization.
struct TileWalk : BlockTiles {
    unsigned index;  // of the current one
    unsigned count;
    GEMM_K_TILES();

    __device__ __forceinline__ TileWalk(const GemmArgs& args, const SharedMemory& /*shared*/)
        : BlockTiles(args), index(cluster), count(tiles.m * tiles.n) {
        GEMM_COUNT_PROBLEMS();
        GEMM_COUNT_K_TILES();
    }

    __device__ __forceinline__ bool has_tile() const { return index < count; }
    __device__ __forceinline__ void next() { index += clusters; }
    GEMM_ENDS_TILE();
    __device__ __forceinline__ Tile tile() const { return block_tile(index, 0, k_tiles); }
};
