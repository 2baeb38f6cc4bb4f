#pragma once
#include "common/dependent_launch.cuh"

// The factor or the divisor of a reduction's result.
#if GEMM_REDUCTION_TIMES
struct Times {
    float number;
    __device__ __forceinline__ float operator()(float value) const { return value * number; }
};
#endif
#if GEMM_REDUCTION_OVER
struct Over {
    float number;
    __device__ __forceinline__ float operator()(float value) const { return value / number; }
};
#endif
struct Unscaled {
    __device__ __forceinline__ float operator()(float value) const { return value; }
};

#if GEMM_REDUCE_ROWS || GEMM_REDUCE_COLUMNS
// parts (count, elements) -> result (elements). A block makes 32 results at a time. Warp w combines the parts w,
// w + kFinishWarps and so on of each result. Then warp 0 combines the values of all warps.
template <typename Kind, typename Scale = Unscaled>
__device__ __forceinline__ void finish_each(float* result, const float* parts, int count, int elements,
                                            Scale scaled = {}) {
    __shared__ float values[kFinishWarps][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 1
    for (long long first = blockIdx.x * 32ll; first < elements; first += gridDim.x * 32ll) {
        const long long element = first + lane;
        float value = Kind::of_nothing();
        if (element < elements)
#pragma unroll 4
            for (int part = warp; part < count; part += kFinishWarps)
                value = Kind::of(value, parts[static_cast<long long>(part) * elements + element]);
        values[warp][lane] = value;
        __syncthreads();
        if (warp == 0 && element < elements) {
#pragma unroll
            for (int i = 1; i < kFinishWarps; ++i) value = Kind::of(value, values[i][lane]);
            result[element] = scaled(value);
        }
        __syncthreads();  // the values may be overwritten
    }
}

#endif
#if GEMM_REDUCE_ALL
// parts (count) -> result (1). One block does it.
template <typename Kind, typename Scale = Unscaled>
__device__ __forceinline__ void finish_one(float* result, const float* parts, long long count, Scale scaled = {}) {
    if (blockIdx.x != 0) return;
    __shared__ float values[kFinishWarps];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float value = Kind::of_nothing();
#pragma unroll 4
    for (long long part = threadIdx.x; part < count; part += kFinishWarps * 32) value = Kind::of(value, parts[part]);
#pragma unroll
    for (int other = 1; other < 32; other *= 2) value = Kind::of(value, __shfl_xor_sync(0xffffffff, value, other));
    if (lane == 0) values[warp] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 1; i < kFinishWarps; ++i) value = Kind::of(value, values[i]);
        *result = scaled(value);
    }
    __syncthreads();  // the values may be overwritten
}

#endif
// Last entry: combines the parts of each reduction, always in the same order.
extern "C" __global__ void __launch_bounds__(kFinishWarps * 32) gemm_finish_parts(const GemmArgs args) {
    GEMM_LAUNCH_ORDER();
    GEMM_FINISH_PARTS();
}
