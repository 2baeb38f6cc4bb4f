#pragma once
#include "epilogue/finish_element.cuh"
#include "epilogue/store_element.cuh"

// Second entry of a split-K kernel: adds the splits' partial sums in the order of the splits, finishes and stores them.
extern "C" __global__ void __launch_bounds__(kReduceThreads, 1) gemm_reduce(const GemmArgs args) {
    GEMM_LAUNCH_ORDER();
    const long long pitch = partials_pitch(args.n);
    const long long size = args.m * pitch;
    const long long quads = size / 4;  // groups of four columns; a row's last one may be padded
    const long long step = static_cast<long long>(gridDim.x) * kReduceThreads;
    for (long long quad = static_cast<long long>(blockIdx.x) * kReduceThreads + threadIdx.x; quad < quads;
         quad += step) {
        const long long row = quad / (pitch / 4);
        const int column = static_cast<int>(quad % (pitch / 4)) * 4;
#if GEMM_STAGED_INTEGERS
        int sum[4] = {};
#else
        float sum[4] = {};
#endif
#pragma unroll
        for (int split = 0; split < kSplitK; ++split) {
#if GEMM_STAGED_INTEGERS
            const int4 part = *reinterpret_cast<const int4*>(partials(args) + split * size + quad * 4);
#else
            const float4 part = *reinterpret_cast<const float4*>(partials(args) + split * size + quad * 4);
#endif
            sum[0] += part.x;
            sum[1] += part.y;
            sum[2] += part.z;
            sum[3] += part.w;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (column + i >= args.n) break;
#if GEMM_EXACT_SUMS
            const int d = finish_element(args, row, column + i, sum[i]);
#elif GEMM_STAGED_INTEGERS
            const float d = finish_element(args, row, column + i, static_cast<float>(sum[i]));
#else
            const float d = finish_element(args, row, column + i, sum[i]);
#endif
            store(args.d + row * args.ldd + column + i, d);
        }
    }
}
