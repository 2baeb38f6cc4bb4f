// Outer products in 2-D loop tiling on FP32 cores.
//
//   for each block tile (kBlockM, kBlockN) of D                     thread blocks take one after the other
//       for each chunk of kBlockK                                   inner product outside: global -> shared
//           for each k of it                                        outer product inside: shared -> registers
//               for each element of the (kTileM, kTileN) thread tile    one multiply-add
//       scale and store
#include "params.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "ladder/simt_matrix.cuh"
#include "ladder/simt_panels.cuh"

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreadsM* kThreadsN) gemm(const GemmArgs args) {
    extern __shared__ float shared_memory[];
    float* const sA = shared_memory;
    float* const sB = sA + kPanelSizeA;

    // A thread's elements are kThreadsM rows and kThreadsN columns apart: a warp reads one m and 32 neighbouring n at a
    // time.
    const int thread_m = threadIdx.x / kThreadsN;
    const int thread_n = threadIdx.x % kThreadsN;

    const long long tiles_m = (args.m + kBlockM - 1ll) / kBlockM;
    const long long tiles_n = (args.n + kBlockN - 1ll) / kBlockN;

    // Grid-stride: block b takes tiles b, b + gridDim.x, b + 2 gridDim.x ... along the rows of D. Any grid does.
    for (long long tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
        const int tile_row = static_cast<int>(tile / tiles_n) * kBlockM;
        const int tile_column = static_cast<int>(tile % tiles_n) * kBlockN;

        float rC[kTileM][kTileN] = {};  // sums of the thread tile
        for (int first_k = 0; first_k < args.k; first_k += kBlockK) {
            copy_panel_a(sA, args, tile_row, first_k);
            copy_panel_b(sB, args, first_k, tile_column);
            __syncthreads();  // all threads have written the panels

#pragma unroll 4
            for (int k = 0; k < kBlockK; ++k) {
                float rA[kTileM], rB[kTileN];
#pragma unroll
                for (int i = 0; i < kTileM; ++i) rA[i] = sA[offset_a(thread_m + i * kThreadsM, k)];
#pragma unroll
                for (int j = 0; j < kTileN; ++j) rB[j] = sB[offset_b(k, thread_n + j * kThreadsN)];
#pragma unroll
                for (int i = 0; i < kTileM; ++i)
#pragma unroll
                    for (int j = 0; j < kTileN; ++j) rC[i][j] = fmaf(rA[i], rB[j], rC[i][j]);
            }
            __syncthreads();  // all threads have read them: they may be filled again
        }

#pragma unroll
        for (int i = 0; i < kTileM; ++i)
#pragma unroll
            for (int j = 0; j < kTileN; ++j) {
                const int row = tile_row + thread_m + i * kThreadsM;
                const int column = tile_column + thread_n + j * kThreadsN;
                if (row < args.m && column < args.n) store_d(args, row, column, rC[i][j]);
            }
    }
}
