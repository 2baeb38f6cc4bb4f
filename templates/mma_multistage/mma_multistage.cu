#if GEMM_ELEMENT_BYTES == 1
// GEMM of 8-bit operands on mma.sync.
#elif GEMM_PARTS
// GEMM of f32 on mma.sync, which multiplies tf32. Each product is three products of parts.
#elif GEMM_ELEMENT_BYTES == 4
// GEMM of f32 on mma.sync, which multiplies tf32.
#else
// Half-precision GEMM on mma.sync.
#endif
//
//   for each block tile (kBlockM, kBlockN) of D                     one thread block each
//       for each k-tile of kBlockK                                  mainloop: kStages tiles in flight, global -> shared
//           for each k-block of kMmaK                               one warp tile per warp, shared -> registers
#if GEMM_PARTS
//               for each (kMmaM, kMmaN) of the warp tile            three mma.sync
#else
//               for each (kMmaM, kMmaN) of the warp tile            one mma.sync
#endif
//       scale and store                                             epilogue
#include "mma_params.cuh"
#include "mma_atom.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "common/dependent_launch.cuh"
#include "workspace.cuh"
#include "common/tile.cuh"
#include "common/rasterization.cuh"
#if GEMM_GROUPED
#include "scheduler/group_tiles.cuh"
#endif
#if GEMM_GROUPED_BY_K
#include "scheduler/group_k_range.cuh"
#endif
#include "common/set_to_zero.cuh"
#include "multistage/shared_layout.cuh"
#include "multistage/global_to_shared.cuh"
#include "multistage/shared_to_registers.cuh"
#if GEMM_BLOCK_SCALES
#include "multistage/block_scales.cuh"
#elif GEMM_PROMOTED
#include "multistage/partial_sums.cuh"
#endif
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
#if GEMM_SPLIT_CLUSTER
extern "C" __global__ void __launch_bounds__(kThreads, 1) __cluster_dims__(kSplitK) gemm(GemmArgs args) {
#else
extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(GemmArgs args) {
#endif
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
#if GEMM_PROMOTED
    Accumulator partial[kTilesM][kTilesN][kRegistersC];  // what tensor cores have added since they began anew
#endif
#if GEMM_BLOCK_SCALES
    BlockScales scales;  // of the block of K that partial belongs to
#endif

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
#if GEMM_ROUND_FRAGMENTS
    round_fragment<kFragmentA>(rA[0]);
    round_fragment<kFragmentB>(rB[0]);
#endif

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
#if GEMM_PROMOTED
#if GEMM_BLOCK_SCALES
            const int k = tile.first_k + k_tile * kBlockK + k_block * kMmaK;
            if (k_block % kPromotedBlocks == 0)
                scales = load_block_scales(args, tile, tile_row + warp_row, tile_column + warp_column, k, lane);
#endif
            if (k_block % kPromotedBlocks == 0) set_to_zero(partial);
            mma_warp_tile(partial, rA[k_block % 2], rB[k_block % 2]);
#if GEMM_BLOCK_SCALES
            // A block behind K has no scales, and its sums are zeros.
            if ((k_block + 1) % kPromotedBlocks == 0 && k - (kPromotedBlocks - 1) * kMmaK < tile.end_k)
                add_scaled_sums(rC, partial, scales);
#else
            if ((k_block + 1) % kPromotedBlocks == 0) add_partial_sums(rC, partial);
#endif
#else
            mma_warp_tile(rC, rA[k_block % 2], rB[k_block % 2]);
#endif
#if GEMM_ROUND_FRAGMENTS
            // The next fragments. The compiler moves this between the mmas.
            round_fragment<kFragmentA>(rA[(k_block + 1) % 2]);
            round_fragment<kFragmentB>(rB[(k_block + 1) % 2]);
#endif
        }
    }
#endif

// clang-format off
#if GEMM_SPLIT_CLUSTER
    lay_out_sums(rC, shared_memory, warp_row, warp_column, lane);
    add_up_and_store(args, shared_address(shared_memory), tile_row, tile_column, split);
#elif GEMM_PARTIAL_SUMS
    const OutputTile output = partial_tile(args, split);
    epilogue(rC, output, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);
#else
    epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);
#endif
    // clang-format on
}
