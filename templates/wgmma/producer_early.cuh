#pragma once
#include "wgmma/copy_operands.cuh"
#include "wgmma/copy_panels.cuh"

// One thread of the block copies. It fills the ring with the k-tiles of this block's tiles, as consumers release the
// stages. It copies constant operands before the previous kernel has ended.

// Copies the constant operands of a tile's first k-tiles, while the ring has unused stages.
__device__ __forceinline__ void prefetch_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                              int& prefetched) {
    const Tile tile = walk.tile();
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles && prefetched < kStages; ++k_tile, ++prefetched) {
        GEMM_ANNOUNCE_PREFETCHED();
        if constexpr (kEarlyA) copy_a(args, shared, tile, k_tile, prefetched);
        if constexpr (kEarlyB) copy_b(args, shared, tile, k_tile, prefetched);
    }
}

// Copies constant operands while the previous kernel may still run. Returns the number of k-tiles.
__device__ __forceinline__ int prefetch_constants(const GemmArgs& args, const SharedMemory& shared) {
    int prefetched = 0;
    TileWalk walk(args, shared);
    if (walk.no_products) return prefetched;
#pragma unroll 1
    for (; walk.has_tile() && prefetched < kStages; walk.next()) {
        GEMM_PREFETCH_TILE();
        GEMM_STOP_AT_PANELS();
    }
    return prefetched;
}

// Copies the k-tiles of a tile into the next stages of the ring. The first `prefetched` of them are announced, and
// their constant operands are in flight.
__device__ __forceinline__ void copy_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          RingPosition& ring, int& prefetched) {
    const Tile tile = walk.tile();
    GEMM_BEGIN_PREFETCH();
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        const int stage = ring.stage;
        GEMM_CLEAR_STAGE();
        // A prefetched k-tile must not wait for its stage: the stage was unused, and consumers may have read it by now.
        const bool is_prefetched = prefetched > 0;
        if (is_prefetched) {
            --prefetched;
        } else {
            GEMM_ANNOUNCE_K_TILE();
        }
        ring.advance();
        if (walk.no_products) continue;
        if (!kEarlyA || !is_prefetched) copy_a(args, shared, tile, k_tile, stage);
        if (!kEarlyB || !is_prefetched) copy_b(args, shared, tile, k_tile, stage);
        GEMM_COPY_SCALES();
        GEMM_FETCH_NEXT_PANELS();
    }
    GEMM_COPY_TILE_OPERANDS();
}

// Copies all tiles of this block.
__device__ __forceinline__ void copy_tiles(const GemmArgs& args, const SharedMemory& shared) {
    int prefetched = prefetch_constants(args, shared);
    wait_on_dependent_grids();
    TileWalk walk(args, shared);
    GEMM_CLEAR_RING();
    RingPosition ring;
#pragma unroll 1
    GEMM_COPY_TILES_EARLY();
}
