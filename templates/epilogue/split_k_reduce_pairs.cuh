#pragma once
#include "epilogue/place_of_pair.cuh"
#include "epilogue/finish_element.cuh"
#include "epilogue/store_element.cuh"

// Second entry of a split-K kernel: adds the splits' partial sums in the order of the splits, makes elements of D of
// their pairs, and stores them.
extern "C" __global__ void __launch_bounds__(kReduceThreads, 1) gemm_reduce(const GemmArgs args) {
    GEMM_LAUNCH_ORDER();
    const long long pitch = partials_pitch(args.n);
    const long long size = args.m * pitch;
    const int columns = args.n / 2;
    const long long elements = static_cast<long long>(args.m) * columns;
    const long long step = static_cast<long long>(gridDim.x) * kReduceThreads;
    for (long long element = static_cast<long long>(blockIdx.x) * kReduceThreads + threadIdx.x; element < elements;
         element += step) {
        const long long row = element / columns;
        const int column = static_cast<int>(element % columns);
#if GEMM_STAGED_INTEGERS
        const int* part = partials(args) + row * pitch + place_of_pair(column);
        int first = 0, second = 0;
#else
        const float* part = partials(args) + row * pitch + place_of_pair(column);
        float first = 0.0f, second = 0.0f;
#endif
#pragma unroll
        for (int split = 0; split < kSplitK; ++split, part += size) {
            first += part[0];
            second += part[kToSecond];
        }
#if GEMM_STAGED_INTEGERS
        const float left = static_cast<float>(first), right = static_cast<float>(second);
        store(args.d + row * args.ldd + column, finish_element(args, row, column, left, right));
#else
        store(args.d + row * args.ldd + column, finish_element(args, row, column, first, second));
#endif
    }
}
