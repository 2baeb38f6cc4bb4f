#pragma once
#include "wgmma/wgmma_k_tile.cuh"

// GEMM_WHY_SUMS_BEGIN_ANEW();
// kPromotedBlocks k-blocks, and CUDA cores add these partial sums to the tile's sums in f32. There are two sets of
// partial sums, and waves take turns with them: one is added while the other multiplies.
//
// The loop body multiplies two k-tiles, and the last k-tile is written once for each way out of the loop. Otherwise
// ptxas serialises the wgmmas (C7514).
__device__ __forceinline__ Tile multiply_k_tiles(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                                 const SharedMemory& shared, const TileWalk& walk, PlaceA a,
                                                 unsigned long long b, RingPosition& ring, int lane) {
    const Tile tile = walk.tile();
    GEMM_BEGIN_SCALES();
    PartialSums even, odd;
    set_to_zero(rC);
    // The waves of a k-tile but for the first, which is in flight in `first`. The last one is left in flight.
    const auto multiply_others = [&](PartialSums& first, PartialSums& second) {
#pragma unroll
        for (int wave = 1; wave < kWaves; ++wave) {
            PartialSums& before = wave % 2 == 0 ? second : first;
            multiply_wave(wave % 2 == 0 ? first : second, a, b, ring, wave);
            wgmma_wait_for<1>(before);
            add_wave(rC, before, wave - 1);
        }
    };
    // Multiplies the rest of a k-tile, and begins the next one.
    const auto advance = [&](PartialSums& first, PartialSums& second) {
        PartialSums& last = kWaves % 2 == 0 ? second : first;
        multiply_others(first, second);
        const int read = ring.stage;
        ring.advance();
        wait_for_k_tile(shared, ring);
        multiply_wave(kWaves % 2 == 0 ? first : second, a, b, ring, 0);
        wgmma_wait_for<1>(last);
        release(shared, read, lane);
        add_wave(rC, last, kWaves - 1);
    };
    const auto finish = [&](PartialSums& first, PartialSums& second) {
        PartialSums& last = kWaves % 2 == 0 ? second : first;
        multiply_others(first, second);
        wgmma_wait_for<0>(last);
        release(shared, ring.stage, lane);
        ring.advance();
        add_wave(rC, last, kWaves - 1);
    };

    // The sets of a k-tile after an odd number of others.
    PartialSums& next_first = kWaves % 2 == 0 ? even : odd;
    PartialSums& next_second = kWaves % 2 == 0 ? odd : even;
    wait_for_k_tile(shared, ring);
    multiply_wave(even, a, b, ring, 0);
    int k_tile = 1;
#pragma unroll 1
    for (; k_tile + 1 < tile.k_tiles; k_tile += 2) {
        advance(even, odd);
        advance(next_first, next_second);
    }
    if (k_tile < tile.k_tiles) {
        advance(even, odd);
        finish(next_first, next_second);
    } else {
        finish(even, odd);
    }
    return tile;
}
