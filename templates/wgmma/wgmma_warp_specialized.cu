// Half-precision GEMM on wgmma. TMA copies the operands.
//
#include "loop_nest.inl"
#include "wgmma_params.cuh"
#include "ptx/tma.cuh"
#include "wgmma_atom.cuh"
#include "ptx/warpgroup.cuh"
#include "ptx/mbarrier.cuh"
#if GEMM_CLUSTER > 1
#include "ptx/cluster.cuh"
#endif
#include "gemm_args.cuh"
#include "dependent_launch.cuh"
#include "workspace.cuh"
#include "common/rasterization.cuh"
#include "wgmma/wgmma_operands.cuh"
#if GEMM_STREAM_K
#include "scheduler/stream_k_walk.cuh"
#include "scheduler/partial_sums.cuh"
#else
#include "scheduler/tile_walk.cuh"
#endif
#include "wgmma/wgmma_k_tile.cuh"
#include "epilogue.cuh"
#include "multiply.cuh"
#include "consumers.cuh"
#include "wgmma/producer.cuh"

// ---- all tiles of the producer
__device__ __forceinline__ void copy_tiles(const GemmArgs& args, const SharedMemory& shared) {
#if GEMM_EARLY
    int prefetched = prefetch_constants(args, shared);
    wait_on_dependent_grids();
#endif
    TileWalk walk(args);
#if !GEMM_C_TMA
    if (walk.no_products) shared.clear_ring();
#endif
    RingPosition ring;
#pragma unroll 1
#if GEMM_EARLY
    for (; walk.has_tile(); walk.next()) copy_tile(args, shared, walk, ring, prefetched);
#else
    for (; walk.has_tile(); walk.next()) copy_tile(args, shared, walk, ring);
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
    const int warpgroup =
        __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // the shuffle tells the compiler that lanes agree

    if (threadIdx.x == 0) shared.init_barriers();
#if GEMM_CLUSTER > 1
    cluster_sync();  // all barriers exist before any block copies into another
#else
    __syncthreads();
#endif
#if GEMM_DEPENDENT_LAUNCH
    launch_dependent_grids();
#if !GEMM_EARLY
    wait_on_dependent_grids();
#endif
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
#if GEMM_EARLY
        wait_on_dependent_grids();  // before C is read and D written
#endif
        multiply_tiles(args, shared, warpgroup);
    }
#if GEMM_CLUSTER > 1
    __syncwarp();
    cluster_sync();  // no block ends while others may use its shared memory or barriers
#endif
}
