#pragma once
#include "epilogue/finish_element.cuh"
#include "epilogue/store_element.cuh"

// kParts threads of each block, in every split, have a sum of the same element of D. Each block adds up its own in
// shared memory. The second entry adds the blocks' sums, which the workspace holds: (kSplitK, m, n). The order of the
// additions never changes.

// The place of a thread's element in the tile of D. A thread has pieces of neighbours. The lanes' pieces lie side by
// side.
template <int kPiece, int kLanes>
__device__ __forceinline__ int place_in_tile(int element, int lane) {
    return (element / kPiece * kLanes + lane) * kPiece + element % kPiece;
}

// rC -> shared memory -> workspace.
__device__ __forceinline__ void sum_up_in_block(const GemmArgs& args, const float (&rC)[kThreadM][kThreadN],
                                                float* sums, const Tile& tile, int split) {
    const ThreadPlace place = thread_place();
    const int part = threadIdx.x / 32 * kWarpLanesK + threadIdx.x % kWarpLanesK;
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
        for (int j = 0; j < kThreadN; ++j)
            sums[part * kPartPitch + (i * kThreadN + j) * kLanesMN + place.m * kWarpLanesN + place.n] = rC[i][j];
    __syncthreads();

    float* partial =
        reinterpret_cast<float*>(args.workspace) + static_cast<long long>(split) * tile.end_row * tile.end_column;
#pragma unroll 1
    for (int first = 0; first < kTileSums; first += kThreads / kSumThreads) {
        const int element = first + threadIdx.x / kSumThreads;
        float sum = 0.0f;
        if (element < kTileSums)
#pragma unroll 8
            for (int i = threadIdx.x % kSumThreads; i < kParts; i += kSumThreads) sum += sums[i * kPartPitch + element];
#pragma unroll
        for (int lane = kSumThreads / 2; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lane);
        const int value = element / kLanesMN;  // of a thread: rC[value / kThreadN][value % kThreadN]
        const int lane = element % kLanesMN;
        const int row = tile.row + place_in_tile<kPieceA, kWarpLanesM>(value / kThreadN, lane / kWarpLanesN);
        const int column = tile.column + place_in_tile<kPieceB, kWarpLanesN>(value % kThreadN, lane % kWarpLanesN);
        if (threadIdx.x % kSumThreads == 0 && element < kTileSums && row < tile.end_row && column < tile.end_column)
            partial[static_cast<long long>(row) * tile.end_column + column] = sum;
    }
}

// Second entry: adds up the blocks' sums, finishes and stores them. A block has 32 columns of a row. Its warps share
// the splits.
extern "C" __global__ void __launch_bounds__(kReduceWarps * 32) gemm_reduce(const GemmArgs args) {
    GEMM_LAUNCH_ORDER();
    __shared__ float sums[kReduceWarps][32];
    const unsigned blocks_of_row = (args.n + 31u) / 32;
    const long long row = blockIdx.x / blocks_of_row;
    const int column = blockIdx.x % blocks_of_row * 32 + threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const long long split_size = static_cast<long long>(args.m) * args.n;
    const float* partial = reinterpret_cast<const float*>(args.workspace) + row * args.n + column;

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < (kSplitK + kReduceWarps - 1) / kReduceWarps; ++i) {
        const int split = warp + i * kReduceWarps;
        if (split < kSplitK && column < args.n) sum += partial[split * split_size];
    }
    sums[warp][threadIdx.x % 32] = sum;
    __syncthreads();
    if (warp > 0 || column >= args.n) return;

#pragma unroll
    for (int i = 1; i < kReduceWarps; ++i) sum += sums[i][threadIdx.x];
    const float d = finish_element(args, row, column, sum);
    store(args.d + row * args.ldd + column, d);
}
