// GEMM on FP32 cores for a small result of a long K, sums in f32. Each of the few sums has many products, so blocks,
// warps and lanes share out K.
//
//   for each block tile (kBlockM, kBlockN) of D                     kSplitK thread blocks each
//       for each kSplitK-th k-tile of kBlockK                       mainloop: kStages tiles in flight, global -> shared
//           for each kStepK k of it                                 four for each thread: warps sum all of the tile
//               for each element of (kThreadM, kThreadN)            four fmas per thread
//       sums of all threads that share an element                   epilogue: registers -> shared -> workspace
//   sums of all blocks, scale and store                             second entry
#include "simt_params.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#if GEMM_DEPENDENT_LAUNCH
#include "common/dependent_launch.cuh"
#endif
#include "simt_long_k/simt_long_k_tiling.cuh"
#include "simt_long_k/simt_long_k_copy.cuh"
#include "simt_long_k/simt_long_k_fragments.cuh"
#include "simt_long_k/simt_long_k_sums.cuh"

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreads, kMinBlocksPerSm) gemm(const GemmArgs args) {
    extern __shared__ __align__(128) char shared_memory[];
#if GEMM_DEPENDENT_LAUNCH
    launch_dependent_grids();
    wait_on_dependent_grids();
#endif

    // This block's tile of D, and its k-tiles: every kSplitK-th, so that all blocks together walk along the rows.
    const unsigned tiles_n = (args.n + (kBlockN - 1u)) / kBlockN;
    const unsigned tiles = (args.m + (kBlockM - 1u)) / kBlockM * tiles_n;
    const unsigned tile = blockIdx.x % tiles;
    const int split = blockIdx.x / tiles;
    const int tile_row = tile / tiles_n * kBlockM;
    const int tile_column = tile % tiles_n * kBlockN;
    const int all_k_tiles = (args.k + (kBlockK - 1ll)) / kBlockK;
    const int k_tiles = (all_k_tiles - split + (kSplitK - 1ll)) / kSplitK;
    const long long first_k = static_cast<long long>(split) * kBlockK;

    float* sA = reinterpret_cast<float*>(shared_memory);  // (kStages, tile of A), row pitch kPitchA
    float* sB = sA + kStages * kStageA;  // (kStages, tile of B), row pitch kPitchB
    long long k_left = args.k - first_k;  // of K, from the k-tile that is copied next
#if GEMM_A_K_MAJOR
    const float* gA = args.a + tile_row * args.lda + first_k;
    CopyA copy_a(gA, args.lda, kSplitK * kBlockK);
#else
    const float* gA = args.a + first_k * args.lda + tile_row;
    CopyA copy_a(gA, args.lda, kSplitK * kBlockK * args.lda);
#endif
#if GEMM_B_K_MAJOR
    const float* gB = args.b + tile_column * args.ldb + first_k;
    CopyB copy_b(gB, args.ldb, kSplitK * kBlockK);
#else
    const float* gB = args.b + first_k * args.ldb + tile_column;
    CopyB copy_b(gB, args.ldb, kSplitK * kBlockK * args.ldb);
#endif

    // Issues a step's copies of the next k-tile, for its rows and columns in global memory that lie inside the matrix.
    const auto issue_copies = [&](int stage) {
        const int k_here = static_cast<int>(max(0ll, min(static_cast<long long>(kBlockK), k_left)));
#if GEMM_A_K_MAJOR
        copy_a.issue(sA + stage * kStageA, args.m - tile_row, k_here);
#else
        copy_a.issue(sA + stage * kStageA, k_here, args.m - tile_row);
#endif
#if GEMM_B_K_MAJOR
        copy_b.issue(sB + stage * kStageB, args.n - tile_column, k_here);
#else
        copy_b.issue(sB + stage * kStageB, k_here, args.n - tile_column);
#endif
    };
    const auto finish_copies = [&] {
        cp_async_commit();
        copy_a.finish();
        copy_b.finish();
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
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        wait_for_oldest_copy();  // all see read_stage, and have read write_stage
#if GEMM_A_K_MAJOR
        const float* from_a = sA + read_stage * kStageA + place.m * kPitchA + place.k;
#else
        const float* from_a = sA + read_stage * kStageA + place.k * kPitchA + place.m * kPieceA;
#endif
#if GEMM_B_K_MAJOR
        const float* from_b = sB + read_stage * kStageB + place.n * kPitchB + place.k;
#else
        const float* from_b = sB + read_stage * kStageB + place.k * kPitchB + place.n * kPieceB;
#endif
#pragma unroll kUnroll
        for (int step = 0; step < kSteps; ++step) {
#if GEMM_A_K_MAJOR
            load_k_major<kThreadM, kWarpLanesM * kPitchA>(rA, from_a + step * kStepK);
#else
            load_mn_major<kThreadM, kPieceA, kWarpLanesM, kPitchA>(rA, from_a + step * kStepK * kPitchA);
#endif
#if GEMM_B_K_MAJOR
            load_k_major<kThreadN, kWarpLanesN * kPitchB>(rB, from_b + step * kStepK);
#else
            load_mn_major<kThreadN, kPieceB, kWarpLanesN, kPitchB>(rB, from_b + step * kStepK * kPitchB);
#endif
            issue_copies(write_stage);  // spread among the fmas: all at once would fill the load-store unit's queue
#pragma unroll
            for (int k = 0; k < 4; ++k) rank_1_update(rC, rA[k], rB[k]);
        }
        finish_copies();
        write_stage = read_stage;
        read_stage = read_stage + 1 == kStages ? 0 : read_stage + 1;
    }

    wait_for_all_copies();  // nobody reads the stages any more: the sums may lie there
    sum_up_in_block(args, rC, reinterpret_cast<float*>(shared_memory), split, tile_row, tile_column);
}
