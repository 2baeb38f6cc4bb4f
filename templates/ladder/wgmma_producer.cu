// Half-precision GEMM on wgmma. TMA copies the operands. Each block has one tile of D, and a warp that only copies.
//
//   for the block's tile (kBlockM, kBlockN) of D
//       the producer: for each k-tile of kBlockK                         gA, gB -> sA, sB, as the ring has room
//       the consumers, each its part of the tile: for each k-tile        sA, sB -> rC
//           for each k-block of 16, for each 64 rows of that part        one wgmma
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
#include "wgmma/wgmma_mainloop.cuh"
#include "wgmma/copy_tile.cuh"

// ---- copies
__device__ __forceinline__ void copy_one_tile(const GemmArgs& args, const SharedMemory& shared) {
    const TileWalk walk(args);
    GEMM_CLEAR_RING();
    RingPosition ring;
    copy_tile(args, shared, walk, ring);
}

// ---- consumers
// Each warpgroup multiplies its part of the block's tile, then stores it.
__device__ __forceinline__ void multiply_tile(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    const TileWalk walk(args);
#include "wgmma/warpgroup_place.inl"
    RingPosition ring;
    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
    const Multiplied multiplied = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);
    const Tile& tile = multiplied.tile;

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

    if (warpgroup == kConsumers) {
        GEMM_PRODUCER_BEGINS();
        if (threadIdx.x / 32 == kConsumers * 4 && elect_one()) copy_one_tile(args, shared);
    } else {
        GEMM_CONSUMERS_BEGIN();
        multiply_tile(args, shared, warpgroup);
    }
}
