#pragma once
#include "wgmma/copy_operands.cuh"
#include "wgmma/copy_panels.cuh"

// Copies the k-tiles of a tile into the next stages of the ring.
__device__ __forceinline__ void copy_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          RingPosition& ring) {
    const Tile tile = walk.tile();
    GEMM_BEGIN_PREFETCH();
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        const int stage = ring.stage;
        GEMM_CLEAR_STAGE();
        GEMM_FIND_K_TILE();
        GEMM_ANNOUNCE_K_TILE();
        ring.advance();
        if (walk.no_products) continue;
        GEMM_COPY_K_TILE();
        GEMM_COPY_SCALES();
        GEMM_FETCH_NEXT_PANELS();
    }
    GEMM_COPY_TILE_OPERANDS();
}
