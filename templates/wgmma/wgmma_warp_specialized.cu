// Half-precision GEMM on wgmma, its operands copied by TMA.
//
#if GEMM_STREAM_K
//   for each block tile (kBlockM, kBlockN) of D, or part of its k-tiles, that is this block's
#elif GEMM_PERSISTENT
//   for each block tile (kBlockM, kBlockN) of D that is this block's     a persistent block takes one after the other
#else
//   for the block's tile (kBlockM, kBlockN) of D
#endif
#if GEMM_WARP_SPECIALIZED
//       the producer: for each k-tile of kBlockK                         gA, gB -> sA, sB, as the ring of kStages has room
#endif
#if GEMM_PINGPONG
//       a consumer, the two in turn: for each k-tile                     sA, sB -> rC
//           for each k-block of 16, for each 64 rows of the tile         one wgmma
//           convert and store, while the other one multiplies            rC -> gD
#elif GEMM_WARP_SPECIALIZED
//       the consumers, each its part of the tile: for each k-tile        sA, sB -> rC
//           for each k-block of 16, for each 64 rows of that part        one wgmma
#if GEMM_OVERLAPPED
//           convert and store 64 rows, while the other 64 multiply       rC -> gD
#elif GEMM_PERSISTENT
//           convert and store, while the next k-tiles arrive             rC -> gD
#else
//           convert and store                                            rC -> gD
#endif
#else
//       one thread: the first kStages k-tiles of kBlockK                 gA, gB -> sA, sB
//       the warpgroups, each its part of the tile: for each k-tile       sA, sB -> rC
//           for each k-block of 16, for each 64 rows of that part        one wgmma
//           that thread: one more, where the k-tile before was           gA, gB -> sA, sB
//       convert and store                                                rC -> gD
#endif
#include "wgmma_params.cuh"
#include "wgmma/wgmma_tiling.cuh"
#include "ptx/tma.cuh"
#include "gemm_args.cuh"
#if !GEMM_SLICE_OF_SUMS
using OutputTile = GemmArgs;  // what the epilogue is told of D
#endif
#if GEMM_DEPENDENT_LAUNCH
#include "common/dependent_launch.cuh"
#endif
#if GEMM_PACK_A || GEMM_PACK_B
#include "common/workspace.cuh"
#include "common/pack.cuh"
#endif
#include "wgmma_atom.cuh"
#include "ptx/warpgroup.cuh"
#include "ptx/mbarrier.cuh"
#if GEMM_CLUSTER > 1
#include "ptx/cluster.cuh"
#endif
#include "wgmma/wgmma_operands.cuh"
#if GEMM_STREAM_K
#include "scheduler/stream_k_walk.cuh"
#include "scheduler/partial_sums.cuh"
#elif GEMM_PERSISTENT
#include "scheduler/tile_walk.cuh"
#else
#include "scheduler/one_tile.cuh"
#endif
#if GEMM_C_TMA
#include "epilogue/c_panels.cuh"
#endif
#include "epilogue.cuh"
#include "multiply.cuh"
#include "wgmma/wgmma_k_tile.cuh"
#if GEMM_C_TMA
#include "epilogue/c_in_ring.cuh"
#endif
#include "consumers.cuh"

#if GEMM_WARP_SPECIALIZED
// ---- producer
#include "multistage/copy_operands.inl"

// Waits until the ring's next stage has been read, and announces the bytes that will fill it.
__device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const RingPosition& ring, int bytes) {
    mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);
    mbarrier_arrive_expect(shared.full_barrier(ring.stage), bytes);
}

#if GEMM_C_TMA
#if GEMM_OVERLAPPED
// C's part of a tile's halves, the upper or the lower ones, which begin at (row, column), behind its k-tiles.
#else
// C's part of a tile, which begins at (row, column), behind its k-tiles.
#endif
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
            tma_load(target, map, column + panel_column(panel), y, full);
#else
            tma_load(target, args.map_c, column + panel_column(panel), y, full);
#endif
        }
        ring.advance();
    }
}

#endif

#if GEMM_EARLY_A || GEMM_EARLY_B
// Of a tile's first k-tiles, as far as there are stages, what no launch writes.
__device__ __forceinline__ void prefetch_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                              int& prefetched) {
    const TileOrigin origin = walk.origin();
#pragma unroll 1
    for (int k_tile = 0; k_tile < walk.k_tiles && prefetched < kStages; ++k_tile, ++prefetched) {
        mbarrier_arrive_expect(shared.full_barrier(prefetched), kStageBytes);  // of both operands
#if GEMM_EARLY_A
        copy_a(args, shared, walk, origin.row, k_tile, prefetched);
#endif
#if GEMM_EARLY_B
        copy_b(args, shared, walk, origin.column, k_tile, prefetched);
#endif
    }
}

// Of the first k-tiles, one per stage, what no launch writes: it is fetched while the launch before may still run. The stages are
// fresh, so there is nothing to wait for. Returns how many.
__device__ __forceinline__ int prefetch_constants(const GemmArgs& args, const SharedMemory& shared) {
    int prefetched = 0;
    if (args.k == 0) return prefetched;
#if GEMM_PERSISTENT
#pragma unroll 1
    for (TileWalk walk(args); walk.has_tile() && prefetched < kStages; walk.next()) {
        prefetch_tile(args, shared, walk, prefetched);
#if GEMM_C_TMA
        if (stages_of_c(args, walk) != 0) break;  // what comes next is C
#endif
    }
#else
    prefetch_tile(args, shared, TileWalk(args), prefetched);
#endif
    return prefetched;
}

#endif
#if GEMM_C_TMA
// A tile's k-tiles, into the stages that come next, and C behind them.
#else
// A tile's k-tiles, into the stages that come next.
#endif
#if GEMM_EARLY_A || GEMM_EARLY_B
__device__ __forceinline__ void copy_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          bool no_products, RingPosition& ring, int& prefetched) {
#else
__device__ __forceinline__ void copy_tile(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          bool no_products, RingPosition& ring) {
#endif
    const TileOrigin origin = walk.origin();
#pragma unroll 1
    for (int k_tile = 0; k_tile < walk.k_tiles; ++k_tile) {
        const int stage = ring.stage;
#if GEMM_C_TMA
        if (no_products) {  // C may have been there
            mbarrier_wait(shared.empty_barrier(stage), ring.phase ^ 1);
            shared.clear_stage(stage);
        }
#endif
#if GEMM_EARLY_A || GEMM_EARLY_B
        const bool is_prefetched = prefetched > 0;
        // Its stage may even have been read by now: whoever waited for the phase before its first would wait for ever.
        if (is_prefetched) {
            --prefetched;
        } else {
            announce_k_tile(shared, ring, no_products ? 0 : kStageBytes);
        }
#else
        announce_k_tile(shared, ring, no_products ? 0 : kStageBytes);
#endif
        ring.advance();
        if (no_products) continue;
#if GEMM_EARLY_A && GEMM_EARLY_B
        if (is_prefetched) continue;
#endif
#if GEMM_EARLY_A && !GEMM_EARLY_B
        if (!is_prefetched) copy_a(args, shared, walk, origin.row, k_tile, stage);
#else
        copy_a(args, shared, walk, origin.row, k_tile, stage);
#endif
#if GEMM_EARLY_B && !GEMM_EARLY_A
        if (!is_prefetched) copy_b(args, shared, walk, origin.column, k_tile, stage);
#else
        copy_b(args, shared, walk, origin.column, k_tile, stage);
#endif
    }
#if GEMM_BROADCAST_C
    prefetch_c(args, origin);
#endif
#if GEMM_C_TMA && GEMM_OVERLAPPED
    if (stages_of_c(args, walk) == 0) return;
    copy_c(args, shared, origin.row, origin.column, ring);
    copy_c(args, shared, origin.row + 64, origin.column, ring);
#elif GEMM_C_TMA
    if (stages_of_c(args, walk) != 0) copy_c(args, shared, origin.row, origin.column, ring);
#endif
}

__device__ __forceinline__ void copy_tiles(const GemmArgs& args, const SharedMemory& shared) {
#if GEMM_EARLY_A || GEMM_EARLY_B
    int prefetched = prefetch_constants(args, shared);  // k-tiles that are yet to come
    wait_on_dependent_grids();
#endif
    TileWalk walk(args);
    const bool no_products = args.k == 0;  // no map of A and B either
#if !GEMM_C_TMA
    if (no_products) shared.clear_ring();
#endif
    RingPosition ring;
#if GEMM_PERSISTENT
#pragma unroll 1
#if GEMM_EARLY_A || GEMM_EARLY_B
    for (; walk.has_tile(); walk.next()) copy_tile(args, shared, walk, no_products, ring, prefetched);
#else
    for (; walk.has_tile(); walk.next()) copy_tile(args, shared, walk, no_products, ring);
#endif
#elif GEMM_EARLY_A || GEMM_EARLY_B
    copy_tile(args, shared, walk, no_products, ring, prefetched);
#else
    copy_tile(args, shared, walk, no_products, ring);
#endif
}

#endif
// ---- kernel
#if GEMM_CLUSTER > 1
extern "C" __global__ void __launch_bounds__(kThreads, 1) __cluster_dims__(kCluster)
    gemm(const __grid_constant__ GemmArgs args) {
#else
extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ GemmArgs args) {
#endif
    extern __shared__ __align__(1024) char shared_memory[];
    const SharedMemory shared(static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)));
    const int warpgroup =
        __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // one for the warp, which the compiler can't know

    if (threadIdx.x == 0) shared.init_barriers();
#if GEMM_CLUSTER > 1
    cluster_sync();  // no block copies into another whose barriers are not there yet
#else
    __syncthreads();
#endif
#if GEMM_DEPENDENT_LAUNCH
    launch_dependent_grids();
#if !GEMM_EARLY_A && !GEMM_EARLY_B
    wait_on_dependent_grids();
#endif
#endif

#if GEMM_WARP_SPECIALIZED
    if (warpgroup == kConsumers) {
#if GEMM_SETMAXNREG
        give_up_registers<kProducerRegisters>();
#endif
        if (threadIdx.x / 32 == kConsumers * 4 && elect_one()) copy_tiles(args, shared);
    } else {
#if GEMM_SETMAXNREG
        take_registers<kConsumerRegisters>();
#endif
#if GEMM_EARLY_A || GEMM_EARLY_B
        wait_on_dependent_grids();  // C may be read, and D written
#endif
        multiply_tiles(args, shared, warpgroup);
    }
#else
    multiply_tiles(args, shared, warpgroup);
#endif
#if GEMM_CLUSTER > 1
    __syncwarp();
    cluster_sync();  // no block ends while others may still copy to its shared memory or arrive at its barriers
#endif
}
