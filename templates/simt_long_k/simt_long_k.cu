// GEMM on FP32 cores for a small result of a long K, sums in f32. Each of the few sums has many products, so blocks,
// warps and lanes share out K.
//
//   for each block tile (kBlockM, kBlockN) of D                     kSplitK thread blocks each
//       for each kSplitK-th k-tile of kBlockK                       mainloop: kStages tiles in flight, global -> shared
//           for each kStepK k of it                                 four for each thread: warps sum all of the tile
//               for each element of (kThreadM, kThreadN)            four fmas per thread
//       sums of all threads that share an element                   epilogue: registers -> shared -> workspace
//   sums of all blocks, scale and store                             second entry
#include "long_k_params.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "common/dependent_launch.cuh"
#include "common/tile.cuh"
#include "simt_long_k/simt_long_k_copy.cuh"
#include "simt_long_k/simt_long_k_threads.cuh"
#include "simt_long_k/simt_long_k_sums.cuh"

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreads, kMinBlocksPerSm) gemm(const GemmArgs args) {
    extern __shared__ __align__(128) char shared_memory[];
    GEMM_LAUNCH_ORDER();

#include "scheduler/interleaved_k_tiles.inl"

    float* sA = reinterpret_cast<float*>(shared_memory);  // (kStages, tile of A), row pitch kPitchA
    float* sB = sA + kStages * kStageA;  // (kStages, tile of B), row pitch kPitchB
    long long k_left = static_cast<long long>(tile.end_k) - tile.first_k;  // of K, from the k-tile that is copied next
    OperandA a(args.a, args.lda, tile.row, tile.first_k);
    OperandB b(args.b, args.ldb, tile.column, tile.first_k);

    // A step's copies of the next k-tile.
    const auto issue_copies = [&](int stage) {
        const int k_here = static_cast<int>(max(0ll, min(static_cast<long long>(kBlockK), k_left)));
        a.issue(sA + stage * kStageA, tile.end_row - tile.row, k_here);
        b.issue(sB + stage * kStageB, tile.end_column - tile.column, k_here);
    };
    const auto finish_copies = [&] {
        cp_async_commit();
        a.finish();
        b.finish();
        k_left -= kSplitK * kBlockK;
    };

    // Prologue: puts the first kStages - 1 k-tiles in flight. A k-tile beyond the last reads nothing.

#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage) {
#pragma unroll 1
        for (int step = 0; step < kSteps; ++step) issue_copies(stage);
        finish_copies();
    }

    const ThreadPlace place = thread_place();
    float rC[kThreadM][kThreadN] = {};
    float rA[4][kThreadM];  // fragments of four k
    float rB[4][kThreadN];
    int read_stage = 0;
    int write_stage = kStages - 1;
#pragma unroll 1
    for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
        wait_for_oldest_copy();  // all see read_stage, and have read write_stage
        GEMM_FIRST_ELEMENTS();
#pragma unroll kUnroll
        for (int step = 0; step < kSteps; ++step) {
            OperandA::load(rA, OperandA::of_step(from_a, step));
            OperandB::load(rB, OperandB::of_step(from_b, step));
            issue_copies(write_stage);  // spread among the fmas: all at once would fill the load-store unit's queue
#pragma unroll
            for (int k = 0; k < 4; ++k) rank_1_update(rC, rA[k], rB[k]);
        }
        finish_copies();
        write_stage = read_stage;
        read_stage = read_stage + 1 == kStages ? 0 : read_stage + 1;
    }

    wait_for_all_copies();  // nobody reads the stages any more: the sums may lie there
    sum_up_in_block(args, rC, reinterpret_cast<float*>(shared_memory), tile, split);
}
