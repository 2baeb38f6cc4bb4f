// Inner products from shared memory on FP32 cores.
//
//   for each block tile (kBlockM, kBlockN) of D                     thread blocks take one after the other
//       for each panel of kBlockK                                   one, where it holds all of K: global -> shared
//           for each k of it                                        inner product: one multiply-add per thread
//       scale and store                                             one element per thread
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

    const int thread_m = threadIdx.x / kThreadsN;  // a warp has one m and 32 neighbouring n
    const int thread_n = threadIdx.x % kThreadsN;

    const long long tiles_m = (args.m + kBlockM - 1ll) / kBlockM;
    const long long tiles_n = (args.n + kBlockN - 1ll) / kBlockN;

    // Grid-stride: block b takes tiles b, b + gridDim.x, b + 2 gridDim.x ... along the rows of D. Any grid does.
    for (long long tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
        const int tile_row = static_cast<int>(tile / tiles_n) * kBlockM;
        const int tile_column = static_cast<int>(tile % tiles_n) * kBlockN;

        float sum = 0.0f;
        for (int first_k = 0; first_k < args.k; first_k += kBlockK) {
            copy_panel_a(sA, args, tile_row, first_k);
            copy_panel_b(sB, args, first_k, tile_column);
            __syncthreads();  // all threads have written the panels

            const int depth = min(kBlockK, args.k - first_k);
#pragma unroll 8
            for (int k = 0; k < depth; ++k) sum = fmaf(sA[offset_a(thread_m, k)], sB[offset_b(k, thread_n)], sum);
            __syncthreads();  // all threads have read them: they may be filled again
        }

        const int row = tile_row + thread_m;
        const int column = tile_column + thread_n;
        if (row < args.m && column < args.n) store_d(args, row, column, sum);
    }
}
