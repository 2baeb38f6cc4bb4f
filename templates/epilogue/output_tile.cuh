#pragma once
// Where a block's result goes and what is still to be done to it.
#if GEMM_PARTIAL_SUMS || GEMM_WAVE
struct OutputTile {
#if GEMM_PARTIAL_SUMS
    float* d;  // (m, n) partial sums of this split
#else
    ElementD* d;
#endif
#if GEMM_READ_C
    const ElementC* c;
    long long ldc;
    float beta;
#endif
    long long ldd;
    int m, n;
    float alpha;
};
#else
using OutputTile = GemmArgs;
#endif
#if GEMM_PARTIAL_SUMS

__device__ __forceinline__ OutputTile partial_tile(const GemmArgs& args, int split) {
    OutputTile output;
    output.ldd = partials_pitch(args.n);
    output.d = partials(args) + split * (args.m * output.ldd);
    output.m = args.m;
    output.n = static_cast<int>(output.ldd);  // the padding too: it is read back in whole vectors
    output.alpha = 1.0f;
    return output;
}
#elif GEMM_WAVE

__device__ __forceinline__ OutputTile final_tile(const GemmArgs& args) {
    OutputTile output;
    output.d = args.d;
    output.ldd = args.ldd;
    output.m = args.m;
    output.n = args.n;
    output.alpha = args.alpha;
#if GEMM_READ_C
    output.c = args.c;
    output.ldc = args.ldc;
    output.beta = args.beta;
#endif
    return output;
}
#endif
