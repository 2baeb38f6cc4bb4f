// GEMM_OPERANDS_IN_WORDS();
//
// GEMM_LOOP_NEST();
#include "wgmma_params.cuh"
#include "ptx/tma.cuh"
#include "ptx/tma_prefetch.cuh"
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
#include "common/set_to_zero.cuh"
#include "epilogue.cuh"
#include "epilogue/store_tile.cuh"
#if GEMM_PARTS_SCALED
#include "wgmma/scale_sums.cuh"
#endif
#include "multiply.cuh"
#include "consumers.cuh"
#include "producer.cuh"
#include "copying_warps.inl"

// ---- kernel
GEMM_KERNEL() {
    extern __shared__ __align__(1024) char shared_memory[];
    const SharedMemory shared(static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)));
    const int warpgroup =
        __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // the shuffle tells the compiler that lanes agree

    if (threadIdx.x == 0) shared.init_barriers();
    GEMM_BLOCKS_BEGIN();

    if (warpgroup == kConsumers) {
        GEMM_PRODUCER_BEGINS();
        if (threadIdx.x / 32 == kConsumers * 4 && elect_one()) copy_tiles(args, shared);
        GEMM_HELP_PRODUCER();
        GEMM_COPY_SCALES_BY_WARP();
    } else {
        GEMM_CONSUMERS_BEGIN();
        multiply_tiles(args, shared, warpgroup);
    }
    GEMM_BLOCKS_END();
}
