#pragma once
#include "wgmma/wgmma_k_tile.cuh"

// Each consumer multiplies 128 rows of every tile. It stores the upper 64 while the tensor cores multiply the last
// k-tile of the lower 64. It stores the lower 64 while they multiply the first k-tile of the next tile.
struct Consumer {
    const GemmArgs& args;
    const SharedMemory& shared;
    TileWalk walk;
    PlaceA a;
    unsigned long long b;  // matrix descriptor, see multiply
    GEMM_LAST_PIECE();
    int lane;
    int first_row, first_column;  // of this warp's rows in the block tile
    int row, column;  // where this warp's rows of the last tile begin in D
    GEMM_LAST_PROBLEM();
    int read = -1;  // the stage that wgmmas in flight read; none yet
    RingPosition ring;
    Staging staging;

    __device__ __forceinline__ Consumer(const GemmArgs& args, const SharedMemory& shared, int warpgroup)
        : args(args), shared(shared), walk(args, shared), lane(threadIdx.x % 32), staging(shared.staging) {
        first_row = warpgroup / kConsumersN * kWarpgroupM;
        first_column = warpgroup % kConsumersN * kWarpgroupN;
        GEMM_PLACE_OF_B();
        a = place_a(shared, first_row);
        first_row += threadIdx.x / 32 % 4 * 16;
    }

    // Stores half of the last tile: 16 rows of each warp.
    template <int kHalf>
    __device__ __forceinline__ void store_half(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        GEMM_MEET_HALVES_OF_PIECES();
        GEMM_EDGES_OF_LAST_TILE();
        GEMM_STORE_SUMS();
    }

    // Stores the last tile's lower half. Its wgmmas have ended.
    __device__ __forceinline__ void finish_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        GEMM_RELEASE_LAST_STAGE();
        store_half<1>(rC);
    }

    // Multiplies a tile of two k-tiles or more, and leaves its lower half in rC. Finishes the previous tile, if there
    // is one.
    __device__ __forceinline__ void multiply_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        wait_for_k_tile(shared, ring);
        multiply<true, 0, 1>(rC, a, b, ring);
        GEMM_WAIT_FOR_LOWER_HALF();
        if (read >= 0) finish_tile(rC);
        multiply<true, 1, 2>(rC, a, b, ring);
        read = ring.stage;
        ring.advance();
        const Tile tile = walk.tile();
        row = tile.row + first_row;
        column = tile.column + first_column;
        GEMM_KEEP_PLACE_OF_TILE();
#pragma unroll 1
        for (int k_tile = 1; k_tile < tile.k_tiles - 1; ++k_tile) {
            wait_for_k_tile(shared, ring);
            multiply<false>(rC, a, b, ring);
            release_earlier(shared, read, lane);
            read = ring.stage;
            ring.advance();
        }
        wait_for_k_tile(shared, ring);
        multiply<false, 0, 1>(rC, a, b, ring);
        multiply<false, 1, 2>(rC, a, b, ring);
        release_earlier(shared, read, lane);  // wgmmas of the lower half are in flight still
        GEMM_STORE_UPPER_HALF();
        walk.next();
    }
};

__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    Consumer consumer(args, shared, warpgroup);
    const TileWalk& walk = consumer.walk;
    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
    // This form keeps ptxas from serialising all wgmmas. Sums are set before they may be in flight (C7514), the
    // function returns within the loop (C7514), and a wait follows the loop (C7518).
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
#pragma unroll
        for (int r = 0; r < kRegistersC; ++r) rC[1][j][r] = 0;
#pragma unroll 1
    while (walk.has_tile()) {
        consumer.multiply_tile(rC);
        if (!walk.has_tile()) {
            wgmma_wait<0>();
            consumer.finish_tile(rC);
            GEMM_END_STORES();
            return;
        }
    }
    wgmma_wait<0>();
}
