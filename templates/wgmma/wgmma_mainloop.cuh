#pragma once
#include "wgmma/wgmma_k_tile.cuh"

// A tile whose k-tiles a consumer has multiplied. Wgmmas of the last k-tile are still in flight.
struct Multiplied {
    Tile tile;
    int read;  // the stage that wgmmas in flight read
};

__device__ __forceinline__ Multiplied multiply_k_tiles(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                                       const SharedMemory& shared, const TileWalk& walk, PlaceA a,
                                                       unsigned long long b, RingPosition& ring, int lane) {
    wait_for_k_tile(shared, ring);
    multiply<true>(rC, a, b, ring);
    int read = ring.stage;
    ring.advance();
    const Tile tile = walk.tile();  // computed here, while the first wgmmas run, it costs nothing
#pragma unroll 1
    for (int k_tile = 1; k_tile < tile.k_tiles; ++k_tile) {
        wait_for_k_tile(shared, ring);
        multiply<false>(rC, a, b, ring);
        release_earlier(shared, read, lane);
        read = ring.stage;
        ring.advance();
    }
    return {tile, read};
}
