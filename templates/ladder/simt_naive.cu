// Naive GEMM on FP32 cores.
//
//   for each (kThreadsM, kThreadsN) block tile of D                 one thread block each
//       for each element of it                                      one thread each
//           for each k                                              one multiply-add, both factors from global memory
//           scale and store
#include "params.cuh"
#include "common/numeric.cuh"
#include "gemm_args.cuh"
#include "ladder/simt_matrix.cuh"

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreadsM* kThreadsN) gemm(const GemmArgs args) {
    // This block's tile of D: blocks go along the rows of D.
    const unsigned tiles_n = (args.n + kThreadsN - 1u) / kThreadsN;
    const int tile_row = blockIdx.x / tiles_n * kThreadsM;
    const int tile_column = blockIdx.x % tiles_n * kThreadsN;

#if GEMM_ALONG_N
    // Neighbouring threads take neighbouring columns of a row. A warp's stores to D are neighbours, too, and take few
    // transactions ("coalesced").
    const int row = tile_row + threadIdx.x / kThreadsN;
    const int column = tile_column + threadIdx.x % kThreadsN;
#else
    // Neighbouring threads take neighbouring rows of a column. A warp's stores to D lie ldd elements apart, and each
    // takes a transaction. With coalesced=true, threads go along a row.
    const int row = tile_row + threadIdx.x % kThreadsM;
    const int column = tile_column + threadIdx.x / kThreadsM;
#endif
    if (row >= args.m || column >= args.n) return;  // block tiles reach over the edges of D

    float sum = 0.0f;
#pragma unroll 4  // loads of four k in flight at once
    for (int k = 0; k < args.k; ++k) sum = fmaf(element_a(args, row, k), element_b(args, k, column), sum);

    store_d(args, row, column, sum);
}
