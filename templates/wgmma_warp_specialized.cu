// Half-precision GEMM on wgmma, its operands copied by TMA.
//
#if GEMM_STREAM_K
//   for each block tile (kBlockM, kBlockN) of D, or part of its k-tiles, that is this block's
#else
//   for each block tile (kBlockM, kBlockN) of D that is this block's     a persistent block takes one after the other
#endif
//       the producer: for each k-tile of kBlockK                         gA, gB -> sA, sB, as the ring of kStages has room
#if GEMM_PINGPONG
//       a consumer, the two in turn: for each k-tile                     sA, sB -> rC
//           for each k-block of 16, for each 64 rows of the tile         one wgmma
//           convert and store, while the other one multiplies            rC -> gD
#else
//       the consumers, each its part of the tile: for each k-tile        sA, sB -> rC
//           for each k-block of 16, for each 64 rows of that part        one wgmma
#if GEMM_OVERLAPPED
//           convert and store 64 rows, while the other 64 multiply       rC -> gD
#else
//           convert and store, while the next k-tiles arrive             rC -> gD
#endif
#endif
#include "wgmma_params.cuh"
#include "wgmma_tiling.cuh"
#include "tensor_map_args.cuh"
#if GEMM_DEPENDENT_LAUNCH
#include "dependent_launch.cuh"
#endif
#if GEMM_PACK_A || GEMM_PACK_B
#include "workspace.cuh"
#include "pack.cuh"
#endif
#include "wgmma_atom.cuh"
#include "warpgroup.cuh"
#include "mbarrier.cuh"
#include "tma.cuh"
#if GEMM_CLUSTER > 1
#include "cluster.cuh"
#endif
#include "wgmma_operands.cuh"
#if GEMM_STREAM_K
#include "stream_k_walk.cuh"
#include "partial_sums.cuh"
#else
#include "tile_walk.cuh"
#endif
#include "epilogue.cuh"
#include "wgmma_k_tile.cuh"
#include "consumers.cuh"

// ---- producer
__device__ __forceinline__ void copy_tiles(const GemmArgs& args, const SharedMemory& shared) {
    TileWalk walk(args);
#if GEMM_CLUSTER > 1
    // Blocks of a cluster that want the same rows of A are those of one row of it; of B, of one column. A bit each.
    const unsigned short row_of_blocks = kRowOfBlocks << walk.cluster_row;
    const unsigned short column_of_blocks = kColumnOfBlocks << walk.cluster_column * kClusterM;
#endif
    const bool no_products = args.k == 0;  // no map of A and B either
    if (no_products) shared.clear_ring();
    RingPosition ring;
#pragma unroll 1
    for (; walk.has_tile(); walk.next()) {
        const TileOrigin origin = walk.origin();
#pragma unroll 1
        for (int k_tile = 0; k_tile < walk.k_tiles; ++k_tile) {
            const int stage = ring.stage;
            const unsigned full = shared.full_barrier(stage);
            mbarrier_wait(shared.empty_barrier(stage), ring.phase ^ 1);
            ring.advance();
            mbarrier_arrive_expect(full, no_products ? 0 : kStageBytes);
            if (no_products) continue;
#if GEMM_STREAM_K
            const int k = (walk.piece.first_k_tile + k_tile) * kBlockK;
#else
            const int k = k_tile * kBlockK;
#endif
#if GEMM_CLUSTER > 1
            OperandA::load(shared.stage_a(stage), args.map_a, origin.row, k, full, walk.cluster_column, row_of_blocks);
            OperandB::load(shared.stage_b(stage), args.map_b, origin.column, k, full, walk.cluster_row,
                           column_of_blocks);
#else
            OperandA::load(shared.stage_a(stage), args.map_a, origin.row, k, full);
            OperandB::load(shared.stage_b(stage), args.map_b, origin.column, k, full);
#endif
        }
    }
}

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
    wait_on_dependent_grids();
#endif

    if (warpgroup == kConsumers) {
#if GEMM_SETMAXNREG
        give_up_registers<kProducerRegisters>();
#endif
        if (threadIdx.x / 32 == kConsumers * 4 && elect_one()) copy_tiles(args, shared);
    } else {
#if GEMM_SETMAXNREG
        take_registers<kConsumerRegisters>();
#endif
        multiply_tiles(args, shared, warpgroup);
    }
#if GEMM_CLUSTER > 1
    __syncwarp();
    cluster_sync();  // no block ends while others may still copy to its shared memory or arrive at its barriers
#endif
}
