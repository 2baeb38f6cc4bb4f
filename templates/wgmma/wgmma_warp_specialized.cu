#if GEMM_TYPE_AB == 6
// GEMM of 8-bit integers on wgmma. TMA copies the operands.
#elif GEMM_ELEMENT_BYTES == 1
// GEMM of 8-bit floats on wgmma. TMA copies the operands.
#elif GEMM_PARTS_TF32
// GEMM of f32 on wgmma, which multiplies parts of tf32. TMA copies the operands.
#elif GEMM_PARTS
// GEMM of f32 on wgmma, which multiplies parts of 16 bits. TMA copies the operands.
#elif GEMM_ELEMENT_BYTES == 4
// GEMM of f32 on wgmma, which multiplies tf32. TMA copies the operands and rounds them.
#else
// Half-precision GEMM on wgmma. TMA copies the operands.
#endif
#if GEMM_GATHERED
// Rows of A are gathered. Threads copy them instead.
#endif
//
// GEMM_LOOP_NEST();
#include "wgmma_params.cuh"
#include "ptx/tma.cuh"
#if GEMM_PREFETCH_PANELS
#include "ptx/tma_prefetch.cuh"
#endif
#include "wgmma_atom.cuh"
#include "ptx/warpgroup.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/cluster.cuh"
#include "gemm_args.cuh"
#include "common/dependent_launch.cuh"
#include "workspace.cuh"
#include "common/rasterization.cuh"
#include "wgmma/wgmma_operands.cuh"
#include "tile_walk.cuh"
#include "wgmma/wgmma_k_tile.cuh"
#if GEMM_PROMOTED
#include "common/set_to_zero.cuh"
#endif
#include "epilogue.cuh"
#include "epilogue/store_tile.cuh"
#if GEMM_PARTS_SCALED
#include "wgmma/scale_sums.cuh"
#endif
#include "multiply.cuh"
#include "consumers.cuh"
#include "producer.cuh"
#if GEMM_GROUPED_BY_K
#include "wgmma/clear_group_ends.cuh"
#elif GEMM_GATHERED
#include "wgmma/copy_gathered_rows.cuh"
#endif
#if GEMM_SCALES_BY_THREADS
#include "wgmma/copy_scales.cuh"
#endif

// ---- kernel
#if GEMM_CLUSTER > 1 && GEMM_BATCHED
extern "C" __global__ void __launch_bounds__(kThreads, 1) __cluster_dims__(kCluster)
    gemm(const __grid_constant__ BatchArgs batch) {
#elif GEMM_CLUSTER > 1
extern "C" __global__ void __launch_bounds__(kThreads, 1) __cluster_dims__(kCluster)
    gemm(const __grid_constant__ GemmArgs args) {
#elif GEMM_BATCHED
extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ BatchArgs batch) {
#else
extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ GemmArgs args) {
#endif
#if GEMM_BATCHED
    const GemmArgs args(batch);
#endif
    extern __shared__ __align__(1024) char shared_memory[];
    const SharedMemory shared(static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)));
    const int warpgroup =
        __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // the shuffle tells the compiler that lanes agree

    if (threadIdx.x == 0) shared.init_barriers();
    GEMM_BLOCKS_BEGIN();

    if (warpgroup == kConsumers) {
        GEMM_PRODUCER_BEGINS();
        if (threadIdx.x / 32 == kConsumers * 4 && elect_one()) copy_tiles(args, shared);
#if GEMM_GROUPED_BY_K
        if (threadIdx.x / 32 == kConsumers * 4 + 1) clear_group_ends(args, shared);
#elif GEMM_GATHERED
        if (threadIdx.x / 32 >= kConsumers * 4 + 2) copy_gathered_rows(args, shared);
#endif
#if GEMM_SCALES_BY_THREADS
        if (threadIdx.x / 32 == kConsumers * 4 + 1) copy_scales(args, shared);
#endif
    } else {
        GEMM_CONSUMERS_BEGIN();
        multiply_tiles(args, shared, warpgroup);
    }
    GEMM_BLOCKS_END();
}
