#pragma once

// ---- main: verifies the kernel above on small integers, whose sums are exact, and times it ---------------------
// A reading aid, not part of the kernel.
// GEMM_BUILD_LINE();
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "problem.cuh"

#if GEMM_TYPE_AB == 2
using Input = float;
__device__ float input_value(float value) { return value; }
__device__ float input_bits(float value) { return value; }
#elif GEMM_TYPE_AB == 0
using Input = unsigned short;
__device__ float input_value(Input bits) { return __half2float(__ushort_as_half(bits)); }
__device__ Input input_bits(float value) { return __half_as_ushort(__float2half_rn(value)); }
#else
using Input = unsigned short;
__device__ float input_value(Input bits) { return __bfloat162float(__ushort_as_bfloat16(bits)); }
__device__ Input input_bits(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
#endif
#if GEMM_TYPE_D == 0
__device__ ElementD rounded(float value) { return __half_as_ushort(__float2half_rn(value)); }
#elif GEMM_TYPE_D == 1
__device__ ElementD rounded(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
#else
__device__ ElementD rounded(float value) { return value; }
#endif
#if GEMM_TYPE_C == 0
__device__ ElementC c_element(float value) { return __half_as_ushort(__float2half_rn(value)); }
#elif GEMM_TYPE_C == 1
__device__ ElementC c_element(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
#elif GEMM_TYPE_C == 2
__device__ ElementC c_element(float value) { return value; }
#endif

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

// -1, 0 or 1. Most are 0 when K is large: the sum of |products| stays below 2048, and is exact in any type and order.
__device__ float small_integer(long long index, unsigned seed) {
    unsigned long long bits = (index + 1) * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ bits >> 29) * 0x94d049bb133111ebull;
    bits ^= bits >> 32;
    return bits % kSparsity != 0 ? 0.0f : bits >> 40 & 1 ? 1.0f : -1.0f;
}

__global__ void fill(Input* matrix, long long elements, unsigned seed) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < elements; i += gridDim.x * 256ll)
        matrix[i] = input_bits(small_integer(i, seed));
}
#if GEMM_HAS_C

__global__ void fill_c(ElementC* matrix, long long elements) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < elements; i += gridDim.x * 256ll)
        matrix[i] = c_element(small_integer(i, 3));
}
#endif

#if GEMM_HAS_C
__global__ void count_wrong(const Input* a, const Input* b, const ElementC* c, const ElementD* d,
                            unsigned long long* wrong) {
#else
__global__ void count_wrong(const Input* a, const Input* b, const ElementD* d, unsigned long long* wrong) {
#endif
    const long long elements = kM * kN;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < elements; i += gridDim.x * 256ll) {
        const long long row = i / kN, column = i % kN;
        float sum = 0;
        for (long long k = 0; k < kK; ++k)
            sum += input_value(a[row * kAStrideM + k * kAStrideK]) * input_value(b[k * kBStrideK + column * kBStrideN]);
        sum *= kAlpha;
#if GEMM_HAS_C
#if GEMM_TYPE_C == 0
        sum += kBeta * __half2float(__ushort_as_half(c[row * kLdc + column]));
#elif GEMM_TYPE_C == 1
        sum += kBeta * __bfloat162float(__ushort_as_bfloat16(c[row * kLdc + column]));
#else
        sum += kBeta * c[row * kLdc + column];
#endif
#endif
        const ElementD expected = rounded(sum);
        const ElementD got = d[row * kLdd + column];
        // Results are equal bit for bit. Only the sign of zero may differ.
#if GEMM_TYPE_D == 2
        if (!(got == expected)) atomicAdd(wrong, 1ull);
#else
        if (got != expected && !((got | expected) == 0x8000u)) atomicAdd(wrong, 1ull);
#endif
    }
}

int main() {
    Input *a, *b;
    ElementD* d;
    unsigned long long* wrong;
    check(cudaMalloc(&a, std::max(kElementsA, 1ll) * sizeof(Input)), "allocate A");
    check(cudaMalloc(&b, std::max(kElementsB, 1ll) * sizeof(Input)), "allocate B");
    check(cudaMalloc(&d, std::max(kElementsD, 1ll) * sizeof(ElementD)), "allocate D");
    check(cudaMallocManaged(&wrong, sizeof(*wrong)), "allocate a counter");
    fill<<<1024, 256>>>(a, kElementsA, 1);
    fill<<<1024, 256>>>(b, kElementsB, 2);
    check(cudaMemset(d, 0xff, kElementsD * sizeof(ElementD)), "NaN into D");

#if GEMM_HAS_C
    ElementC* c;
    check(cudaMalloc(&c, std::max(kElementsC, 1ll) * sizeof(ElementC)), "allocate C");
    fill_c<<<1024, 256>>>(c, kElementsC);
#endif
#if GEMM_WORKSPACE
    char* workspace;
    check(cudaMalloc(&workspace, kWorkspaceBytes), "allocate the workspace");
    check(cudaMemset(workspace, 0, kWorkspaceBytes), "zero the counters");
#endif

    GemmArgs args = {};
    GEMM_SET_ARGUMENTS();

    launch(args);
    check(cudaGetLastError(), "launch");
    *wrong = 0;
    check(cudaDeviceSynchronize(), "run");
#if GEMM_HAS_C
    count_wrong<<<4096, 256>>>(a, b, c, d, wrong);
#else
    count_wrong<<<4096, 256>>>(a, b, d, wrong);
#endif
    check(cudaDeviceSynchronize(), "verify");
    std::printf("%s: %llu of %lld elements wrong\n", *wrong == 0 ? "verified" : "WRONG", *wrong, 1ll * kM * kN);

    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<float> microseconds;
    for (int round = 0; round < 15; ++round) {
        constexpr int kLaunches = 10;
        check(cudaEventRecord(begin), "record");
        for (int i = 0; i < kLaunches; ++i) launch(args);
        check(cudaEventRecord(end), "record");
        check(cudaEventSynchronize(end), "time");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end), "elapsed");
        microseconds.push_back(milliseconds * 1000 / kLaunches);
    }
    std::sort(microseconds.begin(), microseconds.end());
    const double median = microseconds[microseconds.size() / 2];
    std::printf("%.2f us, %.1f TFLOP/s (small integers in L2: real data is slower)\n", median,
                2.0 * kM * kN * kK / median * 1e-6);
    return *wrong == 0 ? 0 : 1;
}
