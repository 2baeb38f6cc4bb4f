// Chunks of K through shared memory on FP32 cores.
//
//   for each block tile (kBlockM, kBlockN) of D                     one thread block each
//       for each chunk of kBlockK                                   global -> shared: an outer product of two panels
//           for each k of it                                        one multiply-add per thread, from shared memory
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

    // This block's tile of D: blocks go along the rows of D.
    const unsigned tiles_n = (args.n + kBlockN - 1u) / kBlockN;
    const int tile_row = blockIdx.x / tiles_n * kBlockM;
    const int tile_column = blockIdx.x % tiles_n * kBlockN;

    const int thread_m = threadIdx.x / kThreadsN;  // a warp has one m and 32 neighbouring n
    const int thread_n = threadIdx.x % kThreadsN;

    float sum = 0.0f;  // of all chunks so far
    for (int first_k = 0; first_k < args.k; first_k += kBlockK) {
        copy_panel_a(sA, args, tile_row, first_k);
        copy_panel_b(sB, args, first_k, tile_column);
        __syncthreads();  // all threads have written the panels

#pragma unroll 8
        for (int k = 0; k < kBlockK; ++k) sum = fmaf(sA[offset_a(thread_m, k)], sB[offset_b(k, thread_n)], sum);
        __syncthreads();  // all threads have read them: they may be filled again
    }

    const int row = tile_row + thread_m;
    const int column = tile_column + thread_n;
    if (row < args.m && column < args.n) store_d(args, row, column, sum);
}
