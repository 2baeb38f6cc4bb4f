#pragma once
#include "wgmma/copy_operands.cuh"
// One thread of the block copies. It fills the ring with the k-tiles of this block's tiles, as consumers release the
// stages.

// Waits until the next stage of the ring has been read, and announces the bytes that the copies will bring.
__device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const RingPosition& ring, int bytes) {
    mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);
    mbarrier_arrive_expect(shared.full_barrier(ring.stage), bytes);
}

#if GEMM_C_TMA
// Copies the part of C that begins at (row, column), into the stages after its k-tiles.
__device__ __forceinline__ void copy_c(const GemmArgs& args, const SharedMemory& shared, int row, int column,
                                       RingPosition& ring) {
    const bool is_one_row = args.ldc == 0;
#pragma unroll
    for (int stage = 0; stage < kStagesC; ++stage) {
        announce_k_tile(shared, ring, bytes_of_c(stage));
        const unsigned full = shared.full_barrier(ring.stage);
        unsigned target = shared.stage_a(ring.stage);
#pragma unroll
        for (int i = 0; i < kPanelsPerStage; ++i, target += kPanelBytesC) {
            const int panel = stage * kPanelsPerStage + i;
            if (panel >= kPanelsC) break;
#if GEMM_OVERLAPPED
            const int y = is_one_row ? 0 : row + panel_row(panel);
#else
            const int y = is_one_row ? 0 : row;
#endif
#if GEMM_REST_COLUMNS
            const TensorMap& map = is_rest_panel(panel) ? args.map_c_rest : args.map_c;
#else
            const TensorMap& map = args.map_c;
#endif
            tma_load(target, map, column + panel_column(panel), y, full);
        }
        ring.advance();
    }
}

#endif
#if GEMM_EARLY
// Copies the constant operands of a tile's first k-tiles, while the ring has unused stages.
__device__ __forceinline__ void prefetch_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                              int& prefetched) {
    const Tile tile = walk.tile();
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles && prefetched < kStages; ++k_tile, ++prefetched) {
        mbarrier_arrive_expect(shared.full_barrier(prefetched), kStageBytes);  // of both operands
        if constexpr (kEarlyA) copy_a(args, shared, tile, k_tile, prefetched);
        if constexpr (kEarlyB) copy_b(args, shared, tile, k_tile, prefetched);
    }
}

// Copies constant operands while the previous kernel may still run. Returns the number of k-tiles.
__device__ __forceinline__ int prefetch_constants(const GemmArgs& args, const SharedMemory& shared) {
    int prefetched = 0;
    TileWalk walk(args);
    if (walk.no_products) return prefetched;
#pragma unroll 1
    for (; walk.has_tile() && prefetched < kStages; walk.next()) {
        prefetch_tile(args, shared, walk, prefetched);
#if GEMM_C_TMA
        if (stages_of_c(args, walk) != 0) break;  // C comes next
#endif
    }
    return prefetched;
}

#endif
// Copies the k-tiles of a tile into the next stages of the ring.
#if GEMM_EARLY
// The first `prefetched` of them are announced, and their constant operands are in flight.
__device__ __forceinline__ void copy_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          RingPosition& ring, int& prefetched) {
#else
__device__ __forceinline__ void copy_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          RingPosition& ring) {
#endif
    const Tile tile = walk.tile();
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        const int stage = ring.stage;
#if GEMM_C_TMA
        if (walk.no_products) {  // the stage may have held C
            mbarrier_wait(shared.empty_barrier(stage), ring.phase ^ 1);
            shared.clear_stage(stage);
        }
#endif
#if GEMM_EARLY
        // A prefetched k-tile must not wait for its stage: the stage was unused, and consumers may have read it by now.
        const bool is_prefetched = prefetched > 0;
        if (is_prefetched) {
            --prefetched;
        } else {
            announce_k_tile(shared, ring, walk.no_products ? 0 : kStageBytes);
        }
        ring.advance();
        if (walk.no_products) continue;
        if (!kEarlyA || !is_prefetched) copy_a(args, shared, tile, k_tile, stage);
        if (!kEarlyB || !is_prefetched) copy_b(args, shared, tile, k_tile, stage);
#else
        announce_k_tile(shared, ring, walk.no_products ? 0 : kStageBytes);
        ring.advance();
        if (walk.no_products) continue;
        copy_a(args, shared, tile, k_tile, stage);
        copy_b(args, shared, tile, k_tile, stage);
#endif
    }
#if GEMM_BROADCAST_C
    prefetch_c(args, tile);
#endif
#if GEMM_C_TMA
    if (stages_of_c(args, walk) == 0) return;
    copy_c(args, shared, tile.row, tile.column, ring);
#endif
#if GEMM_C_TMA && GEMM_OVERLAPPED
    copy_c(args, shared, tile.row + 64, tile.column, ring);  // the lower halves
#endif
}
