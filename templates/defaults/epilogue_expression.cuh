#pragma once
// Defaults, so that a template compiles alone: all that some kernel calls. A rendering puts the kernel's own text here.
#if GEMM_EXACT_SUMS
__device__ __forceinline__ Atom finish(const GemmArgs& args, Atom sum) {
    if (args.alpha == 1.0f) return sum;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const float low = static_cast<float>(sum.pair[i].x), high = static_cast<float>(sum.pair[i].y);
        sum.pair[i] = pack_d(args.alpha * low, args.alpha * high);
    }
    return sum;
}
#else
#if GEMM_SLICES
__device__ __forceinline__ float2 operator*(float factor, float2 pair) {
    return make_float2(factor * pair.x, factor * pair.y);
}
__device__ __forceinline__ float2 fmaf(float factor, float2 pair, float2 sum) {
    return make_float2(fmaf(factor, pair.x, sum.x), fmaf(factor, pair.y, sum.y));
}
#endif
#if GEMM_SLICES && !GEMM_SWAP_AB
__device__ __forceinline__ Atom operator*(float factor, Atom atom) {
    return {factor * atom.pair[0], factor * atom.pair[1]};
}
__device__ __forceinline__ Atom fmaf(float factor, const Atom& atom, Atom sum) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        sum.pair[i].x = fmaf(factor, atom.pair[i].x, sum.pair[i].x);
        sum.pair[i].y = fmaf(factor, atom.pair[i].y, sum.pair[i].y);
    }
    return sum;
}
#endif
#if GEMM_HAS_C
__device__ __forceinline__ float c_factor(const GemmArgs& args) { return args.beta; }

__device__ __forceinline__ float finish(const GemmArgs& args, float sum, float c) {
    return fmaf(args.beta, c, args.alpha * sum);
}
template <typename ReadC>
__device__ __forceinline__ float finish(const GemmArgs& args, float sum, const ReadC& c) {
    float d = args.alpha * sum;
    if (c_factor(args) != 0.0f) d = fmaf(args.beta, c(), d);
    return d;
}
#else
__device__ __forceinline__ float finish(const GemmArgs& args, float sum) { return args.alpha * sum; }
#endif
#if GEMM_SLICES && GEMM_HAS_C
template <typename ReadC>
__device__ __forceinline__ float2 finish(const GemmArgs& args, float2 sum, const ReadC& c) {
    const float2 d = args.alpha * sum;
    if (c_factor(args) == 0.0f) return d;
    return fmaf(args.beta, c(), d);
}
#elif GEMM_SLICES
__device__ __forceinline__ float2 finish(const GemmArgs& args, float2 sum) { return args.alpha * sum; }
#endif
#if GEMM_SLICES && !GEMM_SWAP_AB && GEMM_HAS_C
template <typename ReadC>
__device__ __forceinline__ Atom finish(const GemmArgs& args, const Atom& sum, const ReadC& c) {
    const Atom d = args.alpha * sum;
    if (c_factor(args) == 0.0f) return d;
    return fmaf(args.beta, c(), d);
}
#elif GEMM_SLICES && !GEMM_SWAP_AB
__device__ __forceinline__ Atom finish(const GemmArgs& args, const Atom& sum) { return args.alpha * sum; }
#endif
#endif
