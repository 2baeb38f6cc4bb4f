#pragma once
#include "wgmma/copy_operands.cuh"
#include "wgmma/copy_panels.cuh"
#if GEMM_PREFETCH_PANELS
#include "wgmma/prefetch_panels.cuh"
#endif

// Copies the k-tiles of a tile into the next stages of the ring.
__device__ __forceinline__ void copy_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          RingPosition& ring) {
    const Tile tile = walk.tile();
#if GEMM_PREFETCH_PANELS
    PanelPrefetch prefetch(args, walk);
#endif
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        const int stage = ring.stage;
        GEMM_CLEAR_STAGE();
#if GEMM_GROUPED_BY_K
        const KTile from = k_tile_at(shared, tile, k_tile, stage);
#endif
        GEMM_ANNOUNCE_K_TILE();
        ring.advance();
        if (walk.no_products) continue;
#if GEMM_GROUPED_BY_K
        copy_a(args, shared, tile, from, stage);
        copy_b(args, shared, tile, from, stage);
#else
#if !GEMM_GATHERED
        copy_a(args, shared, tile, k_tile, stage);
#endif
        copy_b(args, shared, tile, k_tile, stage);
#endif
        GEMM_COPY_SCALES();
#if GEMM_PREFETCH_PANELS
        prefetch.advance(args, tile, k_tile);
#endif
    }
    GEMM_COPY_TILE_OPERANDS();
}
