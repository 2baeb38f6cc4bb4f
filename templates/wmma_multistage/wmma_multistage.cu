// Half-precision GEMM on wmma.
//
//   for each block tile (kBlockM, kBlockN) of D                     one thread block each
//       for each k-tile of kBlockK                                  mainloop: kStages tiles in flight, global -> shared
//           for each k-block of kMmaK                               one warp tile per warp, shared -> registers
//               for each (kMmaM, kMmaN) of the warp tile            one wmma.mma
//       scale and store                                             epilogue
#include "wmma_params.cuh"
#include "wmma_atom.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "common/tile.cuh"
#include "common/rasterization.cuh"
#include "common/set_to_zero.cuh"
#include "multistage/shared_layout.cuh"
#include "multistage/global_to_shared.cuh"
#include "multistage/warp_fragments.cuh"
#include "epilogue/output_tile.cuh"

// ---- epilogue
// rC -> sC: a row of the warp tile's fragments. Only wmma.store knows which lane holds which element.
__device__ __forceinline__ void stage_rows(Staged* sC, const Accumulator (&rC)[kTilesN][kRegistersC]) {
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) store_fragment(shared_address(sC + j * kMmaN), rC[j]);
}

#include "epilogue/epilogue_shared.cuh"

// ---- kernel
// The 1 allows one block per SM: without it ptxas may spill registers to make room for more blocks.
extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(GemmArgs args) {
    extern __shared__ __align__(128) char shared_memory[];
    GEMM_LAUNCH_ORDER();

#include "scheduler/tile_of_this_block.inl"

#include "multistage/warp_of_this_thread.inl"
    const unsigned warp_a = sA + fragment_offset_a(warp_row, 0);  // this warp's rows of A and columns of B in stage 0
    const unsigned warp_b = sB + fragment_offset_b(warp_column, 0);

    // gA -> sA, gB -> sB. The constructors compute which rows and columns of D are in range.
    CopyA copy_a(args.a, args.lda, tile.row, tile.end_row, tile.first_k, tile.end_k);
    CopyB copy_b(args.b, args.ldb, tile.column, tile.end_column, tile.first_k, tile.end_k);

    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM, kTilesN) fragments of the warp tile
    set_to_zero(rC);

#if GEMM_STAGES == 1
    // One buffer is filled, used, and filled again. Nothing is in flight while the tensor cores work.

#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        copy_a.issue(sA, 0, 1);
        copy_b.issue(sB, 0, 1);
        copy_a.finish(sA);
        copy_b.finish(sB);
        GEMM_COMMIT_COPIES();
        GEMM_WAIT_FOR_ALL_COPIES();
        __syncthreads();  // all threads have written the tile
        mma_k_tile(rC, warp_a, warp_b);
        __syncthreads();  // all threads have read it
    }
#else
#include "multistage/multistage_prologue.inl"

#if GEMM_DOUBLE_BUFFER
    unsigned rA[2][kTilesM][kRegistersA];  // fragments of this k-block and of the next
    unsigned rB[2][kTilesN][kRegistersB];
    GEMM_WAIT_FOR_OLDEST_COPY();
    __syncthreads();
    load_k_block(rA[0], rB[0], warp_a, warp_b, 0);
    copy_a.issue(sA + write_stage * kStageBytesA, 0, 1);
    copy_b.issue(sB + write_stage * kStageBytesB, 0, 1);

#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
#pragma unroll
        for (int k_block = 0; k_block < kKBlocks; ++k_block) {
            if (k_block == kKBlocks - 1) {  // the next fragments lie in the next stage
                copy_a.finish(sA + write_stage * kStageBytesA);
                copy_b.finish(sB + write_stage * kStageBytesB);
                GEMM_COMMIT_COPIES();
                GEMM_WAIT_FOR_OLDEST_COPY();
                __syncthreads();  // all see the next stage; this one may be filled again
                write_stage = read_stage;
                read_stage = read_stage + 1 == kStages ? 0 : read_stage + 1;
            }
            const int next = (k_block + 1) % kKBlocks;
            load_k_block(rA[(k_block + 1) % 2], rB[(k_block + 1) % 2], warp_a + read_stage * kStageBytesA,
                         warp_b + read_stage * kStageBytesB, next);
            if (k_block == kKBlocks - 1) {  // filled again at once: loads take long
                copy_a.issue(sA + write_stage * kStageBytesA, 0, 1);
                copy_b.issue(sB + write_stage * kStageBytesB, 0, 1);
            }
            mma_warp_tile(rC, rA[k_block % 2], rB[k_block % 2]);
        }
    }
    GEMM_COMMIT_COPIES();
#else
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        GEMM_WAIT_FOR_OLDEST_COPY();
        __syncthreads();  // all see read_stage, and have read write_stage
        copy_a.issue(sA + write_stage * kStageBytesA, 0, 1);
        copy_b.issue(sB + write_stage * kStageBytesB, 0, 1);
        mma_k_tile(rC, warp_a + read_stage * kStageBytesA, warp_b + read_stage * kStageBytesB);
        copy_a.finish(sA + write_stage * kStageBytesA);
        copy_b.finish(sB + write_stage * kStageBytesB);
        GEMM_COMMIT_COPIES();
        write_stage = read_stage;
        read_stage = read_stage + 1 == kStages ? 0 : read_stage + 1;
    }
#endif
#endif

    epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);
}
