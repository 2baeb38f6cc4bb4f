#pragma once
#include "wgmma/wgmma_k_tile.cuh"

// GEMM_WHY_SUMS_BEGIN_ANEW();
// kPromotedBlocks k-blocks, and CUDA cores add these partial sums to the tile's sums in f32.
// The waves of a warpgroup tile take turns with one set of partial sums. While a wave is added, other warpgroups
// multiply.
__device__ __forceinline__ Tile multiply_k_tiles(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                                 const SharedMemory& shared, const TileWalk& walk, PlaceA a,
                                                 unsigned long long b, RingPosition& ring, int lane) {
    const Tile tile = walk.tile();
    GEMM_BEGIN_SCALES();
    PartialSums partial;
    set_to_zero(rC);
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        wait_for_k_tile(shared, ring);
#pragma unroll
        for (int wave = 0; wave < kWaves; ++wave) {
            multiply_wave(partial, a, b, ring, wave);
            wgmma_wait_for<0>(partial);
            if (wave == kWaves - 1) release(shared, ring.stage, lane);
            add_wave(rC, partial, wave);
        }
        ring.advance();
    }
    return tile;
}
