// Half-precision GEMM on wgmma. TMA copies the operands. Each block has one tile of D. One of the threads that multiply
// starts the copies.
//
//   for the block's tile (kBlockM, kBlockN) of D
//       one thread: the first kStages k-tiles of kBlockK                 gA, gB -> sA, sB
//       the warpgroups, each its part of the tile: for each k-tile       sA, sB -> rC
//           for each k-block of 16, for each 64 rows of that part        one wgmma
//           that thread: one more k-tile, into the stage just read       gA, gB -> sA, sB
//       convert and store                                                rC -> gD
#include "wgmma_params.cuh"
#include "ptx/tma.cuh"
#include "wgmma_atom.cuh"
#include "ptx/warpgroup.cuh"
#include "ptx/mbarrier.cuh"
#include "gemm_args.cuh"
#include "common/dependent_launch.cuh"
#include "workspace.cuh"
#include "scheduler/one_tile.cuh"
#include "wgmma/wgmma_operands.cuh"
#include "wgmma/wgmma_k_tile.cuh"
#include "epilogue.cuh"
#include "epilogue/store_tile.cuh"
#include "multiply.cuh"
#include "wgmma/copy_operands.cuh"

// ---- copies
// Copies a k-tile into a stage that is free, and announces its bytes.
__device__ __forceinline__ void copy_k_tile(const GemmArgs& args, const SharedMemory& shared, const Tile& tile,
                                            int k_tile, int stage) {
    mbarrier_arrive_expect(shared.full_barrier(stage), kStageBytes);
    copy_a(args, shared, tile, k_tile, stage);
    copy_b(args, shared, tile, k_tile, stage);
}

// Copies the first k-tiles, one per stage. The stages are unused, so there is nothing to wait for.
__device__ __forceinline__ void fill_ring(const GemmArgs& args, const SharedMemory& shared, const TileWalk& walk,
                                          const Tile& tile) {
    if (walk.no_products) {
        shared.clear_ring();
        mbarrier_arrive_expect(shared.full_barrier(0), 0);
    } else {
#pragma unroll 1
        for (int k_tile = 0; k_tile < min(kStages, tile.k_tiles); ++k_tile)
            copy_k_tile(args, shared, tile, k_tile, k_tile);
    }
    GEMM_COPY_TILE_OPERANDS();
}

// ---- consumers
// Each warpgroup multiplies its part of the block's tile, then stores it.
__device__ __forceinline__ void multiply_tile(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    const TileWalk walk(args);
    const Tile tile = walk.tile();
    const bool is_first_warp = threadIdx.x < 32;
    if (is_first_warp && elect_one()) fill_ring(args, shared, walk, tile);

#include "wgmma/warpgroup_place.inl"
    RingPosition ring;
    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
    wait_for_k_tile(shared, ring);
    multiply<true>(rC, a, b, ring);
    RingPosition read = ring;  // the k-tile that wgmmas in flight read
    ring.advance();
#pragma unroll 1
    for (int k_tile = 1; k_tile < tile.k_tiles; ++k_tile) {
        wait_for_k_tile(shared, ring);
        multiply<false>(rC, a, b, ring);
        wgmma_wait<1>();  // for those of the previous k-tile
        const int next = k_tile - 1 + kStages;
        if (next < tile.k_tiles) {
            release(shared, read.stage, lane);
            if (is_first_warp && elect_one()) {  // again: the compiler must see that it is one thread
                mbarrier_wait(shared.empty_barrier(read.stage), read.phase);
                copy_k_tile(args, shared, tile, next, read.stage);
            }
            __syncwarp();  // the whole warp issues wgmmas
        }
        read = ring;
        ring.advance();
    }

    GEMM_PREPARE_STORE();
    wgmma_wait_for(rC);
    Staging staging(shared.staging);
    GEMM_STORE_SUMS();
    GEMM_END_STORES();
}

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ GemmArgs args) {
    extern __shared__ __align__(1024) char shared_memory[];
    const SharedMemory shared(static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)));
    const int warpgroup =
        __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // the shuffle tells the compiler that lanes agree

    if (threadIdx.x == 0) shared.init_barriers();
    __syncthreads();
    GEMM_LAUNCH_ORDER();

    multiply_tile(args, shared, warpgroup);
}
