#pragma once
#include "common/rasterization.cuh"
#include "common/tile.cuh"
#if GEMM_CLUSTER > 1
// The tiles of D as clusters take them: kClusterM by kClusterN at once, of which each block has its own.
#else
// The tiles of D, and the block that takes some of them.
#endif
struct BlockTiles {
    const int &rows, &columns;  // of D
    bool no_products;  // K is 0: there are no maps of A and B
#if GEMM_CLUSTER > 1
    TileCoord tiles;  // of D, of a cluster each
    unsigned cluster;  // this one,
    unsigned clusters = gridDim.x / kCluster;  // of so many
    unsigned cluster_row, cluster_column;  // of the block in its cluster

    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : rows(args.m),
          columns(args.n),
          no_products(args.k == 0),
          tiles{(args.m + kClusterM * kBlockM - 1u) / (kClusterM * kBlockM),
                (args.n + kClusterN * kBlockN - 1u) / (kClusterN * kBlockN)},
          cluster(blockIdx.x / kCluster),
          cluster_row(blockIdx.x % kClusterM),
          cluster_column(blockIdx.x % kCluster / kClusterM) {}

    // This block's part of a cluster's tile.
    __device__ __forceinline__ Tile block_tile(unsigned index, int first_k, int k_tiles) const {
        const TileCoord at = tile_of_block(index, tiles);
        const int row = (at.m * kClusterM + cluster_row) * kBlockM;
        const int column = (at.n * kClusterN + cluster_column) * kBlockN;
        return {row, column, rows, columns, first_k, k_tiles, cluster_row, cluster_column};
    }
#else
    TileCoord tiles;  // of D
    unsigned cluster;  // this block,
    unsigned clusters = gridDim.x;  // of so many

    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : rows(args.m),
          columns(args.n),
          no_products(args.k == 0),
          tiles{(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN},
          cluster(blockIdx.x) {}

    __device__ __forceinline__ Tile block_tile(unsigned index, int first_k, int k_tiles) const {
        const TileCoord at = tile_of_block(index, tiles);
        const int row = at.m * kBlockM, column = at.n * kBlockN;
        return {row, column, rows, columns, first_k, k_tiles};
    }
#endif
};
