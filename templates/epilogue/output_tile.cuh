#pragma once
#include "epilogue_expression.cuh"
#if GEMM_PARTIAL_SUMS
// A block's sums go to the workspace unscaled. gemm_reduce finishes them.
struct OutputTile {
#if GEMM_STAGED_INTEGERS
    int* d;  // (m, n) partial sums of this split
#else
    float* d;  // (m, n) partial sums of this split
#endif
    long long ldd;
    int m, n;
};

__device__ __forceinline__ OutputTile partial_tile(const GemmArgs& args, int split) {
    OutputTile output;
    output.ldd = partials_pitch(args.n);
    output.d = partials(args) + split * (args.m * output.ldd);
    output.m = args.m;
    output.n = static_cast<int>(output.ldd);  // with the padding: gemm_reduce reads whole vectors
    return output;
}
#if !GEMM_STAGED_INTEGERS

__device__ __forceinline__ float finish_element(const OutputTile& /*output*/, int /*row*/, int /*column*/, float sum) {
    return sum;
}
#endif
#else
// A block's result goes to D.
using OutputTile = GemmArgs;
#endif
