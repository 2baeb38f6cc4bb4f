// GEMM_OPERANDS_IN_WORDS();
//
//   for each block tile (kBlockM, kBlockN) of D                     one thread block each
//       for each k-tile of kBlockK                                  mainloop: kStages tiles in flight, global -> shared
//           for each k-block of kMmaK                               one warp tile per warp, shared -> registers
// GEMM_MMAS_OF_ATOM();
//       scale and store                                             epilogue
#include "mma_params.cuh"
#include "mma_atom.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "common/dependent_launch.cuh"
#include "workspace.cuh"
#include "common/tile.cuh"
#include "common/rasterization.cuh"
#include "groups.inl"
#include "common/set_to_zero.cuh"
#include "multistage/shared_layout.cuh"
#include "multistage/global_to_shared.cuh"
#include "multistage/shared_to_registers.cuh"
#include "multistage/partial_sums.cuh"
#include "epilogue/output_tile.cuh"
#if GEMM_SPLIT_CLUSTER
#include "epilogue/output_vector.cuh"
#include "epilogue/cluster_sums.cuh"
#else
#include "mma_multistage/mma_stage_rows.cuh"
#include "epilogue/epilogue_shared.cuh"
#endif
#include "second_entry.inl"

// ---- kernel
// The 1 allows one block per SM: without it ptxas may spill registers to make room for more blocks.
GEMM_KERNEL() {
    extern __shared__ __align__(128) char shared_memory[];
    GEMM_LAUNCH_ORDER();

#include "scheduler/tile_of_this_block.inl"

#include "multistage/warp_of_this_thread.inl"

    // gA -> sA, gB -> sB. The constructors compute which rows and columns of D are in range.
    GEMM_START_COPIES();

    unsigned lane_offset_a[kChunksA];  // in a stage, in bytes; see shared_to_registers
    unsigned lane_offset_b[kChunksB];
    fragment_offsets_a(lane_offset_a, lane, warp_row);
    fragment_offsets_b(lane_offset_b, lane, warp_column);

    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM, kTilesN) atoms of the warp tile
    set_to_zero(rC);
    GEMM_DECLARE_PARTIAL_SUMS();

#if GEMM_COPY_REALIGN
#include "mma_multistage/realigning_mainloop.inl"
#else
#include "multistage/multistage_prologue.inl"

    unsigned rA[2][kFragmentA];  // fragments of this k-block and of the next
    unsigned rB[2][kFragmentB];
    GEMM_WAIT_FOR_OLDEST_COPY();
    __syncthreads();
    load_fragments_a(rA[0], sA, lane_offset_a, 0);
    load_fragments_b(rB[0], sB, lane_offset_b, 0);
    GEMM_ROUND_FIRST_FRAGMENTS();

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
            load_fragments_a(rA[(k_block + 1) % 2], sA + read_stage * kStageBytesA, lane_offset_a, next);
            load_fragments_b(rB[(k_block + 1) % 2], sB + read_stage * kStageBytesB, lane_offset_b, next);
            if (k_block < kKBlocks - 1) {  // copies a slice of the k-tile after those in flight
                copy_a.issue(sA + write_stage * kStageBytesA, k_block, kKBlocks - 1);
                copy_b.issue(sB + write_stage * kStageBytesB, k_block, kKBlocks - 1);
            }
            GEMM_MULTIPLY_K_BLOCK();
            GEMM_ROUND_NEXT_FRAGMENTS();
        }
    }
#endif

    GEMM_STORE_TILE();
}
