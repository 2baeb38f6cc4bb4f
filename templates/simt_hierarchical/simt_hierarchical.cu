// GEMM on the FP32 cores, sums in f32.
//
//   for each block tile (kBlockM, kBlockN) of D                     one thread block each
//       for each k-tile of kBlockK                                  mainloop: kStages tiles in flight, global -> shared
//           for each k of it                                        one warp tile per warp, shared -> registers
//               for each element of (kThreadM, kThreadN)            one fma per thread: a rank-1 update of its sums
//       scale and store                                             epilogue
#include "simt_params.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "common/dependent_launch.cuh"
#include "workspace.cuh"
#include "common/tile.cuh"
#include "common/rasterization.cuh"
#include "groups.inl"
#include "epilogue/output_tile.cuh"
#if GEMM_COPY_ASYNC
#include "simt_hierarchical/copies_async.cuh"
#else
#include "simt_hierarchical/copies_registers.cuh"
#endif
#include "simt_hierarchical/simt_shared_to_registers.cuh"
#include "epilogue/output_vector.cuh"
#if GEMM_EPILOGUE_SHARED
#include "simt_hierarchical/epilogue_shared.cuh"
#else
#include "simt_hierarchical/epilogue_registers.cuh"
#endif
#include "second_entry.inl"

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreads, kMinBlocksPerSm) gemm(GemmArgs args) {
    extern __shared__ __align__(128) char shared_memory[];
    GEMM_LAUNCH_ORDER();

#include "scheduler/tile_of_this_block.inl"

    // Lane bit 0 goes along m and the next bits along n. So pairs of lanes load from one address, for both fragments: a
    // warp's 16-byte load then takes two wavefronts, not four.
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int row =
        warp / kWarpsN * kWarpM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;  // of the first quad of the thread tile
    const int column = warp % kWarpsN * kWarpN + lane / 2 % kLanesN * 4;

    float* sA = reinterpret_cast<float*>(shared_memory);  // (kStages, kBlockK, kBlockM), row pitch kPitchA
    float* sB = sA + kStages * kStageA;  // (kStages, kBlockK, kBlockN), row pitch kPitchB

    CopyA copy_a(args.a, args.lda, tile.row, tile.end_row, tile.first_k, tile.end_k);
    CopyB copy_b(args.b, args.ldb, tile.column, tile.end_column, tile.first_k, tile.end_k);

    float rC[kThreadM][kThreadN] = {};

    // Prologue: puts the first kStages - 1 k-tiles in flight. A k-tile beyond the last reads nothing and arrives as
    // zeros, so that all k-tiles are alike.

#pragma unroll
    for (int stage = 0; stage < kStages - 1; ++stage) {
        copy_a.issue(sA + stage * kStageA, 0, 1);
        copy_b.issue(sB + stage * kStageB, 0, 1);
        finish_copies(copy_a, copy_b);
    }

    int read_stage = 0;
    int write_stage = kStages - 1;
#if GEMM_DOUBLE_BUFFER

    float rA[2][kThreadM];  // fragments of this k and of the next
    float rB[2][kThreadN];
    wait_for_oldest_copy();
    const float* from_a = sA + row;  // in the stage that is read
    const float* from_b = sB + column;
    load_fragment<kThreadM, kLanesM>(rA[0], from_a);
    load_fragment<kThreadN, kLanesN>(rB[0], from_b);

#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
#pragma unroll
        for (int k = 0; k < kBlockK; ++k) {
            if (k == kBlockK - 1) {  // the next fragments lie in the next stage
                write_stage = read_stage;
                read_stage = read_stage + 1 == kStages ? 0 : read_stage + 1;
                from_a = sA + read_stage * kStageA + row;
                from_b = sB + read_stage * kStageB + column;
            }
            const int next = (k + 1) % kBlockK;
            load_fragment<kThreadM, kLanesM>(rA[(k + 1) % 2], from_a + next * kPitchA);
            load_fragment<kThreadN, kLanesN>(rB[(k + 1) % 2], from_b + next * kPitchB);
            if (k < kCopySlices) {  // copies a slice of the k-tile after those in flight
                copy_a.issue(sA + write_stage * kStageA, k, kCopySlices);
                copy_b.issue(sB + write_stage * kStageB, k, kCopySlices);
            }
            if (k == kBlockK - 2) {  // this stage's last fragments are in flight
                finish_copies(copy_a, copy_b);
                wait_for_oldest_copy();  // all see the next stage; this one may be filled again
            }
            rank_1_update(rC, rA[k % 2], rB[k % 2]);
        }
    }
#else

    float rA[kThreadM];  // fragments of one k
    float rB[kThreadN];

#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        wait_for_oldest_copy();  // all see read_stage, and have read write_stage
        const float* from_a = sA + read_stage * kStageA + row;
        const float* from_b = sB + read_stage * kStageB + column;
#pragma unroll
        for (int k = 0; k < kBlockK; ++k) {
            load_fragment<kThreadM, kLanesM>(rA, from_a + k * kPitchA);
            load_fragment<kThreadN, kLanesN>(rB, from_b + k * kPitchB);
            if (k < kCopySlices) {  // copies a slice of the k-tile after those in flight
                copy_a.issue(sA + write_stage * kStageA, k, kCopySlices);
                copy_b.issue(sB + write_stage * kStageB, k, kCopySlices);
            }
            rank_1_update(rC, rA, rB);
        }
        finish_copies(copy_a, copy_b);
        write_stage = read_stage;
        read_stage = read_stage + 1 == kStages ? 0 : read_stage + 1;
    }
#endif

#if GEMM_PARTIAL_SUMS
    epilogue(rC, partial_tile(args, split), tile_row + row, tile_column + column, shared_memory);
#elif GEMM_WAVE
    const OutputTile output = share.is_partial ? partial_tile(args, share.left_over) : args;
    const int first_row = (share.is_partial ? 0 : tile_row) + row;
    const int first_column = (share.is_partial ? 0 : tile_column) + column;
    epilogue(rC, output, first_row, first_column, shared_memory);
#else
    epilogue(rC, args, tile_row + row, tile_column + column, shared_memory);
#endif
}
