// Half-precision GEMM on wgmma, its operands copied by TMA.
//
//   for each block tile (kBlockM, kBlockN) of D that is this block's     a persistent block takes one after the other
#if GEMM_PINGPONG
//       the producer: for each k-tile of kBlockK                         gA, gB -> sA, sB, as the ring of kStages has room
//       a consumer, the two in turn: for each k-tile                     sA, sB -> rC
//           for each k-block of 16, for each 64 rows of the tile         one wgmma
//           convert and store, while the other one multiplies            rC -> gD
#else
//       the producer: for each k-tile of kBlockK                         gA, gB -> sA, sB, as the ring of kStages has room
//       the consumers, each its part of the tile: for each k-tile        sA, sB -> rC
//           for each k-block of 16, for each 64 rows of that part        one wgmma
//           convert and store, while the next k-tiles arrive             rC -> gD
#endif
#include "wgmma_params.cuh"
#include "wgmma_tiling.cuh"
#include "tensor_map_args.cuh"
#include "wgmma_atom.cuh"
#include "warpgroup.cuh"
#include "mbarrier.cuh"
#include "tma.cuh"
#if GEMM_CLUSTER > 1
#include "cluster.cuh"
#endif
#include "wgmma_operands.cuh"
#if GEMM_PINGPONG
#include "pingpong_turn.cuh"
#endif
#include "tile_walk.cuh"
using OutputTile = GemmArgs;
#if GEMM_STORE_TMA
#include "epilogue_tma.cuh"
#else
#include "wgmma_epilogue_registers.cuh"
#endif

// ---- producer
__device__ __forceinline__ void copy_tiles(const GemmArgs& args, const SharedMemory& shared) {
    const TileWalk walk(args);
#if GEMM_CLUSTER > 1
    // Blocks of a cluster that want the same rows of A are those of one row of it; of B, of one column. A bit each.
    const unsigned short row_of_blocks = kRowOfBlocks << walk.cluster_row;
    const unsigned short column_of_blocks = kColumnOfBlocks << walk.cluster_column * kClusterM;
#endif
    const bool no_products = args.k == 0;  // no map of A and B either
    if (no_products) shared.clear_ring();
    RingPosition ring;
#pragma unroll 1
    for (unsigned tile = walk.first; tile < walk.count; tile += walk.step) {
        const TileOrigin origin = walk.origin(tile);
#pragma unroll 1
        for (int k_tile = 0; k_tile < walk.k_tiles; ++k_tile) {
            const int stage = ring.stage;
            const unsigned full = shared.full_barrier(stage);
            mbarrier_wait(shared.empty_barrier(stage), ring.phase ^ 1);
            ring.advance();
            mbarrier_arrive_expect(full, no_products ? 0 : kStageBytes);
            if (no_products) continue;
#if GEMM_CLUSTER > 1
            OperandA::load(shared.stage_a(stage), args.map_a, origin.row, k_tile * kBlockK, full, walk.cluster_column,
                           row_of_blocks);
            OperandB::load(shared.stage_b(stage), args.map_b, origin.column, k_tile * kBlockK, full, walk.cluster_row,
                           column_of_blocks);
#else
            OperandA::load(shared.stage_a(stage), args.map_a, origin.row, k_tile * kBlockK, full);
            OperandB::load(shared.stage_b(stage), args.map_b, origin.column, k_tile * kBlockK, full);
#endif
        }
    }
}

// ---- consumers
// The wgmmas of one k-tile, as one group, when it has arrived; `a` and `b` are the matrix descriptors of its first ones. Those of a
// tile's first k-block set the sums, the others add to them.
template <bool kFirst>
__device__ __forceinline__ void multiply(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], unsigned long long a, unsigned long long b,
                                         const SharedMemory& shared, const RingPosition& ring) {
    mbarrier_wait(shared.full_barrier(ring.stage), ring.phase);
    a += ring.stage * (kStageBytes >> 4);
    b += ring.stage * (kStageBytes >> 4);
    wgmma_fence();
#pragma unroll
    for (int k_block = 0; k_block < kKBlocks; ++k_block)
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
            wgmma(rC[i][0], a + OperandA::offset(i * 64, k_block), b + OperandB::offset(0, k_block), !kFirst || k_block != 0);
    wgmma_commit();
}

// This warp has read a stage.
__device__ __forceinline__ void release(const SharedMemory& shared, int stage, int lane) {
#if GEMM_CLUSTER > 1
    if (lane < kCluster) mbarrier_arrive(shared.empty_barrier(stage), lane);  // of each block that copies into it
#else
    if (lane == 0) mbarrier_arrive(shared.empty_barrier(stage));
#endif
}

__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    const TileWalk walk(args);
    const int warp = threadIdx.x / 32 % 4;
    const int lane = threadIdx.x % 32;
#if GEMM_PINGPONG
    const unsigned long long a = OperandA::kDescriptor | descriptor_address(shared.stage_a(0));
    const unsigned long long b = OperandB::kDescriptor | descriptor_address(shared.stage_b(0));
#else
    const int warpgroup_row = warpgroup / kConsumersN * kWarpgroupM;  // of the warpgroup tile in the block tile
    const int warpgroup_column = warpgroup % kConsumersN * kWarpgroupN;
    const unsigned long long a =
        OperandA::kDescriptor | (descriptor_address(shared.stage_a(0)) + OperandA::offset(warpgroup_row, 0));
    const unsigned long long b =
        OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(warpgroup_column, 0));
#endif
#if GEMM_STORE_TMA
    const unsigned staging = shared.staging + threadIdx.x / 32 * (kSlices * kSliceBytes);  // this warp's
#endif
    RingPosition ring;
#if GEMM_PINGPONG
    const Turn turn{warpgroup};
    if (warpgroup == 1) {
        turn.pass_on();  // the other one begins
        ring.skip(walk.k_tiles);
    }
#pragma unroll 1
    for (unsigned tile = walk.first + warpgroup * walk.step; tile < walk.count; tile += kConsumers * walk.step) {
        turn.wait();
#else
#pragma unroll 1
    for (unsigned tile = walk.first; tile < walk.count; tile += walk.step) {
#endif
        Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
        multiply<true>(rC, a, b, shared, ring);
        int read = ring.stage;  // what the wgmmas in flight read
        ring.advance();
        const TileOrigin origin = walk.origin(tile);  // here its divisions cost nothing
#pragma unroll 1
        for (int k_tile = 1; k_tile < walk.k_tiles; ++k_tile) {
            multiply<false>(rC, a, b, shared, ring);
            wgmma_wait<1>();  // for those of the k-tile before
            release(shared, read, lane);
            read = ring.stage;
            ring.advance();
        }
#if GEMM_PINGPONG
        turn.pass_on();
#endif
        wgmma_wait_for(rC);
        release(shared, read, lane);
#if GEMM_PINGPONG
        ring.skip(walk.k_tiles);  // the other consumer's tile
#endif

#if GEMM_PINGPONG
        const int row = origin.row + warp * 16, column = origin.column;
#else
        const int row = origin.row + warpgroup_row + warp * 16, column = origin.column + warpgroup_column;
#endif
#if GEMM_STORE_TMA
        epilogue(rC, args, row, column, staging, lane);
#else
        epilogue(rC, args, row, column, lane);
#endif
    }
#if GEMM_STORE_TMA
    if (lane == 0) tma_store_wait_read<0>();  // before the block's shared memory goes
#endif
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
    const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // one for the warp, which the compiler can't know

    if (threadIdx.x == 0) shared.init_barriers();
#if GEMM_CLUSTER > 1
    cluster_sync();  // no block copies into another whose barriers are not there yet
#else
    __syncthreads();
#endif
#if GEMM_DEPENDENT_LAUNCH
    // The next launch may begin where this one leaves SMs free. What the launch before wrote may be read from here on.
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
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
