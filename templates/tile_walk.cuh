#pragma once
#include "rasterization.cuh"
// The tiles of D, dealt out: cluster c of all takes tiles c, c + clusters, ... in the order of rasterization.
#if GEMM_CLUSTER > 1
// A cluster takes kClusterM by kClusterN block tiles at once, of which each block has its own.
#endif
struct TileOrigin {
    int row, column;  // of D
};

struct TileWalk {
    TileCoord tiles;  // of D
    unsigned count;  // how many these are
    unsigned first, step;
#if GEMM_OVERLAPPED
    int k_tiles;  // of each, two at least: what lies beyond K is zeros
#else
    int k_tiles;  // of each; where there is no K, one of zeros
#endif
#if GEMM_CLUSTER > 1
    unsigned cluster_row, cluster_column;  // of the block in its cluster
#endif

    __device__ __forceinline__ explicit TileWalk(const GemmArgs& args) {
#if GEMM_CLUSTER > 1
        tiles = {(args.m + kClusterM * kBlockM - 1u) / (kClusterM * kBlockM),
                 (args.n + kClusterN * kBlockN - 1u) / (kClusterN * kBlockN)};
        first = blockIdx.x / kCluster;
        step = gridDim.x / kCluster;
        cluster_row = blockIdx.x % kClusterM;
        cluster_column = blockIdx.x % kCluster / kClusterM;
#else
        tiles = {(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN};
        first = blockIdx.x;
        step = gridDim.x;
#endif
        count = tiles.m * tiles.n;
#if GEMM_OVERLAPPED
        k_tiles = max(2, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#else
        k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#endif
    }

    // Where this block's tile begins.
    __device__ __forceinline__ TileOrigin origin(unsigned tile) const {
        const TileCoord at = tile_of_block(tile, tiles);
#if GEMM_CLUSTER > 1
        return {static_cast<int>((at.m * kClusterM + cluster_row) * kBlockM),
                static_cast<int>((at.n * kClusterN + cluster_column) * kBlockN)};
#else
        return {static_cast<int>(at.m * kBlockM), static_cast<int>(at.n * kBlockN)};
#endif
    }
};
