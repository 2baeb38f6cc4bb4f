#pragma once
#include "common/rasterization.cuh"
#include "common/tile.cuh"
#if GEMM_SYMMETRIC
#include "scheduler/triangle.cuh"
#endif
// GEMM_WHO_TAKES_TILES();
struct BlockTiles {
    const int &rows, &columns;  // of D
    bool no_products;  // K is 0, and there are no maps of A and B
#if GEMM_CLUSTER > 1
    GEMM_TILES_OF_CLUSTERS();
    unsigned cluster;  // index of this cluster
    unsigned clusters = gridDim.x / kCluster;  // of the grid
    unsigned cluster_row, cluster_column;  // of the block in its cluster

    GEMM_COUNT_TILES_OF_CLUSTERS();

    // This block's tile of those that its cluster takes.
    __device__ __forceinline__ Tile block_tile(unsigned index, int first_k, int k_tiles) const {
        GEMM_TAKE_PROBLEM();
        GEMM_FIND_TILE();
        const int row = (at.m * kClusterM + cluster_row) * kBlockM;
        const int column = (at.n * kClusterN + cluster_column) * kBlockN;
        GEMM_TILE_IN_CLUSTER();
    }
#else
    GEMM_TILES_OF_BLOCKS();
    unsigned cluster;  // index of this block
    unsigned clusters = gridDim.x;  // blocks of the grid

    GEMM_COUNT_TILES_OF_BLOCKS();

    __device__ __forceinline__ Tile block_tile(unsigned index, int first_k, int k_tiles) const {
        GEMM_TAKE_PROBLEM();
        GEMM_FIND_TILE();
        const int row = at.m * kBlockM, column = at.n * kBlockN;
        GEMM_TILE_OF_BLOCK();
    }
#endif
};
