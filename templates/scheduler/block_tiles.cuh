#pragma once
#include "common/rasterization.cuh"
#include "common/tile.cuh"
#if GEMM_SYMMETRIC
#include "scheduler/triangle.cuh"
#endif
#if GEMM_CLUSTER > 1
// The tiles of D. A cluster takes kClusterM by kClusterN tiles at once, one for each of its blocks.
#else
// The tiles of D, and the block that takes some of them.
#endif
struct BlockTiles {
    const int &rows, &columns;  // of D
    bool no_products;  // K is 0, and there are no maps of A and B
#if GEMM_CLUSTER > 1
#if GEMM_SYMMETRIC
    TileCoord tiles;  // that are computed, counted in tiles of a cluster
#else
    TileCoord tiles;  // of D, counted in tiles of a cluster
#endif
    unsigned cluster;  // index of this cluster
    unsigned clusters = gridDim.x / kCluster;  // of the grid
    unsigned cluster_row, cluster_column;  // of the block in its cluster

#if GEMM_SYMMETRIC
    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : rows(args.m),
          columns(args.n),
          no_products(args.k == 0),
          tiles(tiles_of_triangle(args.m)),
          cluster(blockIdx.x / kCluster),
          cluster_row(blockIdx.x % kClusterM),
          cluster_column(blockIdx.x % kCluster / kClusterM) {}
#else
    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : rows(args.m),
          columns(args.n),
          no_products(args.k == 0),
          tiles{(args.m + kClusterM * kBlockM - 1u) / (kClusterM * kBlockM),
                (args.n + kClusterN * kBlockN - 1u) / (kClusterN * kBlockN)},
          cluster(blockIdx.x / kCluster),
          cluster_row(blockIdx.x % kClusterM),
          cluster_column(blockIdx.x % kCluster / kClusterM) {}
#endif

    // This block's tile of those that its cluster takes.
    __device__ __forceinline__ Tile block_tile(unsigned index, int first_k, int k_tiles) const {
#if GEMM_BATCHED
        const int problem = index / (tiles.m * tiles.n);
        index %= tiles.m * tiles.n;
#endif
#if GEMM_SYMMETRIC
        const TileCoord at = tile_of_triangle(tile_of_block(index, tiles), rows);
#else
        const TileCoord at = tile_of_block(index, tiles);
#endif
        const int row = (at.m * kClusterM + cluster_row) * kBlockM;
        const int column = (at.n * kClusterN + cluster_column) * kBlockN;
#if GEMM_BATCHED
        return {{rows, columns}, row, column, first_k, k_tiles, cluster_row, cluster_column, problem};
#else
        return {{rows, columns}, row, column, first_k, k_tiles, cluster_row, cluster_column};
#endif
    }
#else
#if GEMM_SYMMETRIC
    TileCoord tiles;  // that are computed
#else
    TileCoord tiles;  // of D
#endif
    unsigned cluster;  // index of this block
    unsigned clusters = gridDim.x;  // blocks of the grid

#if GEMM_SYMMETRIC
    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : rows(args.m),
          columns(args.n),
          no_products(args.k == 0),
          tiles(tiles_of_triangle(args.m)),
          cluster(blockIdx.x) {}
#else
    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)
        : rows(args.m),
          columns(args.n),
          no_products(args.k == 0),
          tiles{(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN},
          cluster(blockIdx.x) {}
#endif

    __device__ __forceinline__ Tile block_tile(unsigned index, int first_k, int k_tiles) const {
#if GEMM_BATCHED
        const int problem = index / (tiles.m * tiles.n);
        index %= tiles.m * tiles.n;
#endif
#if GEMM_SYMMETRIC
        const TileCoord at = tile_of_triangle(tile_of_block(index, tiles), rows);
#else
        const TileCoord at = tile_of_block(index, tiles);
#endif
        const int row = at.m * kBlockM, column = at.n * kBlockN;
#if GEMM_BATCHED
        return {{rows, columns}, row, column, first_k, k_tiles, problem};
#else
        return {{rows, columns}, row, column, first_k, k_tiles};
#endif
    }
#endif
};
