// 2-D loop tiling on FP32 cores.
//
//   for each block tile (kBlockM, kBlockN) of D                     thread blocks take one after the other
//       for each k                                                  inner product; both factors from global memory
//           for each element of the (kTileM, kTileN) thread tile    one multiply-add; loads serve a row or a column
//       scale and store
#include "params.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "ladder/simt_matrix.cuh"

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreadsM* kThreadsN) gemm(const GemmArgs args) {
    // A thread's elements are kThreadsM rows and kThreadsN columns apart, so that neighbouring threads hold
    // neighbouring columns.
    const int thread_m = threadIdx.x / kThreadsN;
    const int thread_n = threadIdx.x % kThreadsN;

    const long long tiles_m = (args.m + kBlockM - 1ll) / kBlockM;
    const long long tiles_n = (args.n + kBlockN - 1ll) / kBlockN;

    // Grid-stride: block b takes tiles b, b + gridDim.x, b + 2 gridDim.x ... along the rows of D. Any grid does.
    for (long long tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
        const int first_row = static_cast<int>(tile / tiles_n) * kBlockM + thread_m;
        const int first_column = static_cast<int>(tile % tiles_n) * kBlockN + thread_n;

        float rC[kTileM][kTileN] = {};  // sums of the thread tile
#pragma unroll 2
        for (int k = 0; k < args.k; ++k) {
            float rA[kTileM], rB[kTileN];  // beyond an edge: the last row or column again, which is not stored
#pragma unroll
            for (int i = 0; i < kTileM; ++i) rA[i] = element_a(args, min(first_row + i * kThreadsM, args.m - 1), k);
#pragma unroll
            for (int j = 0; j < kTileN; ++j) rB[j] = element_b(args, k, min(first_column + j * kThreadsN, args.n - 1));
#pragma unroll
            for (int i = 0; i < kTileM; ++i)
#pragma unroll
                for (int j = 0; j < kTileN; ++j) rC[i][j] = fmaf(rA[i], rB[j], rC[i][j]);
        }

#pragma unroll
        for (int i = 0; i < kTileM; ++i)
#pragma unroll
            for (int j = 0; j < kTileN; ++j) {
                const int row = first_row + i * kThreadsM;
                const int column = first_column + j * kThreadsN;
                if (row < args.m && column < args.n) store_d(args, row, column, rC[i][j]);
            }
    }
}
