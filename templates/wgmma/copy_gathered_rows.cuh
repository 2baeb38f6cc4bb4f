#pragma once
#include "wgmma/copy_operands.cuh"

// Two warps of the block copy A, half of a tile's rows each. They walk over the tiles and the ring as the thread does
// that copies B. That thread announces the bytes of A, too. Those may have arrived before: the stage is not full until
// the thread has arrived.
constexpr int kRowsOfWarp = kBlockM / 2;
constexpr int kRowsAtOnce = kConsumers < 3 ? 8 : 4;  // three consumers leave registers for no more

#if GEMM_TILE_PANELS
// Passes stages that hold panels. It waits for them, too: whoever misses a phase takes the next one for the last.
__device__ __forceinline__ void pass_stages(const SharedMemory& shared, RingPosition& ring, int stages) {
#pragma unroll 1
    for (; stages > 0; --stages) {
        mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);
        ring.advance();
    }
}

#endif
// Copies kRowsAtOnce rows of a tile, from `row` on. Lane `lane` holds the first one's place in A, the next lanes those
// of the others. One lane issues all copies: each lane with a row of its own would wait for its turn.
__device__ __forceinline__ void copy_rows(const GemmArgs& args, unsigned tile, int row, int from, int lane, int k,
                                          unsigned full) {
    int rows[kRowsAtOnce];
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) rows[i] = __shfl_sync(0xffffffff, from, lane + i);
    if (!elect_one()) return;
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) OperandA::load_row(tile, args.map_a, row + i, rows[i], k, full);
}

__device__ __forceinline__ void copy_gathered_rows(const GemmArgs& args, const SharedMemory& shared) {
    const int first = threadIdx.x / 32 % 2 * kRowsOfWarp;  // row of a tile
    RingPosition ring;
    TileWalk walk(args, shared);
    if (walk.no_products) return;
#pragma unroll 1
    for (; walk.has_tile(); walk.next()) {
        const Tile tile = walk.tile();
        int from[kRowsOfWarp / 32];  // places in A of each 32 rows
#pragma unroll
        for (int i = 0; i < kRowsOfWarp / 32; ++i) {
            const int row = tile.row + first + i * 32 + threadIdx.x % 32;
            from[i] = row < tile.end_row ? args.row_index[row] : -1;  // A has no row -1
        }
#pragma unroll 1
        for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
            mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);
            const int k = tile.first_k + k_tile * kBlockK;
#pragma unroll
            for (int i = 0; i < kRowsOfWarp / 32; ++i)
#pragma unroll 1
                for (int lane = 0; lane < 32; lane += kRowsAtOnce)
                    copy_rows(args, shared.stage_a(ring.stage), first + i * 32 + lane, from[i], lane, k,
                              shared.full_barrier(ring.stage));
            ring.advance();
        }
        GEMM_PASS_PANELS();
    }
}
