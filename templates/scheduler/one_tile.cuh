#pragma once
#include "common/rasterization.cuh"
#include "common/tile.cuh"

// The one tile of D that this block computes.
struct TileWalk {
    const int &rows, &columns;  // of D
    bool no_products;  // K is 0, and there are no maps of A and B
    int k_tiles;  // at least one, which holds zeros where K is 0

    __device__ __forceinline__ explicit TileWalk(const GemmArgs& args)
        : rows(args.m), columns(args.n), no_products(args.k == 0) {
        k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
    }

    GEMM_ENDS_TILE();
    __device__ __forceinline__ Tile tile() const {
        const TileCoord tiles{(rows + kBlockM - 1u) / kBlockM, (columns + kBlockN - 1u) / kBlockN};
        const TileCoord at = tile_of_block(blockIdx.x, tiles);
        const int row = at.m * kBlockM, column = at.n * kBlockN;
        return {{rows, columns}, row, column, 0, k_tiles};
    }
};
