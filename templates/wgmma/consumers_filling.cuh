#pragma once
#include "multistage/copy_operands.inl"

// A k-tile into a stage that is free, of which it announces the bytes.
__device__ __forceinline__ void copy_k_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                            const TileOrigin& origin, int k_tile, int stage) {
    mbarrier_arrive_expect(shared.full_barrier(stage), kStageBytes);
    copy_a(args, shared, walk, origin.row, k_tile, stage);
    copy_b(args, shared, walk, origin.column, k_tile, stage);
}

// The first k-tiles, one per stage as far as there are so many. The stages are fresh, so there is nothing to wait for.
__device__ __forceinline__ void fill_ring(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          const TileOrigin& origin) {
    if (args.k == 0) {  // no map of A and B either
        shared.clear_ring();
        mbarrier_arrive_expect(shared.full_barrier(0), 0);
    } else {
#pragma unroll 1
        for (int k_tile = 0; k_tile < min(kStages, walk.k_tiles); ++k_tile)
            copy_k_tile(args, shared, walk, origin, k_tile, k_tile);
    }
#if GEMM_BROADCAST_C
    prefetch_c(args, origin);
#endif
}

// Each warpgroup multiplies its part of the block's tile, then stores it. No warp is there to copy alone: one thread of the first one
// does so between two k-tiles, when all warps have read the one before, and its warp waits for them, too.
__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    const TileWalk walk(args);
    const TileOrigin origin = walk.origin();
    const bool is_first_warp = threadIdx.x < 32;
    if (is_first_warp && elect_one()) fill_ring(args, shared, walk, origin);

#include "wgmma/warpgroup_place.inl"
    RingPosition ring;
    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
    wait_for_k_tile(shared, ring);
    multiply<true>(rC, a, b, ring);
    RingPosition read = ring;  // of the k-tile that wgmmas in flight read
    ring.advance();
#pragma unroll 1
    for (int k_tile = 1; k_tile < walk.k_tiles; ++k_tile) {
        wait_for_k_tile(shared, ring);
        multiply<false>(rC, a, b, ring);
        wgmma_wait<1>();  // for those of the k-tile before
        const int next = k_tile - 1 + kStages;
        if (next < walk.k_tiles) {
            release(shared, read.stage, lane);
            if (is_first_warp && elect_one()) {  // anew, so that the compiler knows it is one thread
                mbarrier_wait(shared.empty_barrier(read.stage), read.phase);
                copy_k_tile(args, shared, walk, origin, next, read.stage);
            }
            __syncwarp();  // wgmmas are the whole warp's
        }
        read = ring;
        ring.advance();
    }

#include "wgmma/finish_one_tile.inl"
}
