#pragma once
#include "common/rasterization.cuh"
#if GEMM_CLUSTER > 1
// The tiles of D as clusters take them: kClusterM by kClusterN at once, of which each block has its own.
#else
// The tiles of D, and the block that takes some of them.
#endif
struct TileOrigin {
    int row, column;  // of D
};

struct BlockTiles {
#if GEMM_CLUSTER > 1
    TileCoord tiles;  // of D, of a cluster each
    unsigned cluster;  // this one,
    unsigned clusters = gridDim.x / kCluster;  // of so many
    unsigned cluster_row, cluster_column;  // of the block in its cluster

    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : tiles{(args.m + kClusterM * kBlockM - 1u) / (kClusterM * kBlockM),
                (args.n + kClusterN * kBlockN - 1u) / (kClusterN * kBlockN)},
          cluster(blockIdx.x / kCluster),
          cluster_row(blockIdx.x % kClusterM),
          cluster_column(blockIdx.x % kCluster / kClusterM) {}

    // Where this block's part of a cluster's tile begins.
    __device__ __forceinline__ TileOrigin origin_of(unsigned tile) const {
        const TileCoord at = tile_of_block(tile, tiles);
        return {static_cast<int>((at.m * kClusterM + cluster_row) * kBlockM),
                static_cast<int>((at.n * kClusterN + cluster_column) * kBlockN)};
    }
#else
    TileCoord tiles;  // of D
    unsigned cluster;  // this block,
    unsigned clusters = gridDim.x;  // of so many

    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : tiles{(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN}, cluster(blockIdx.x) {}

    // Where a tile begins.
    __device__ __forceinline__ TileOrigin origin_of(unsigned tile) const {
        const TileCoord at = tile_of_block(tile, tiles);
        return {static_cast<int>(at.m * kBlockM), static_cast<int>(at.n * kBlockN)};
    }
#endif
};
