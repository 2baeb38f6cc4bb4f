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
#if GEMM_MIXED_INPUTS

__global__ void fill_b(Input* matrix, long long elements, unsigned seed) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < elements; i += gridDim.x * 256ll)
        matrix[i] = input_bits_b(small_integer(i, seed));
}
#endif
#if GEMM_HAS_C

__global__ void fill_c(ElementC* matrix, long long elements) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < elements; i += gridDim.x * 256ll)
        matrix[i] = c_element(small_integer(i, 3));
}
#endif

#if GEMM_BATCHED
constexpr long long kResults = kBatch * kM * kN;
#else
constexpr long long kResults = kM * kN;
#endif

__global__ void count_wrong(const Input* a, const Input* b, const ElementD* d, unsigned long long* wrong) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < kResults; i += gridDim.x * 256ll) {
#if GEMM_BATCHED
        const long long problem = i / kN / kM, row = i / kN % kM, column = i % kN;
#if GEMM_NESTED
        const long long inner = problem % kBatchInner, outer = problem / kBatchInner;
        const long long in_a = outer * kOuterStrideA + inner * kBatchStrideA + row * kAStrideM;
        const long long in_b = outer * kOuterStrideB + inner * kBatchStrideB + column * kBStrideN;
        const long long in_d = outer * kOuterStrideD + inner * kBatchStrideD + row * kLdd + column;
#else
        const long long in_a = problem * kBatchStrideA + row * kAStrideM;
        const long long in_b = problem * kBatchStrideB + column * kBStrideN;
        const long long in_d = problem * kBatchStrideD + row * kLdd + column;
#endif
#else
        const long long row = i / kN, column = i % kN;
        const long long in_a = row * kAStrideM, in_b = column * kBStrideN, in_d = row * kLdd + column;
#endif
        float sum = 0;
        for (long long k = 0; k < kK; ++k)
            sum += input_value(a[in_a + k * kAStrideK]) * input_value(b[in_b + k * kBStrideK]);
        sum *= kAlpha;
#if GEMM_HAS_C && GEMM_NESTED
        const long long in_c = outer * kOuterStrideC + inner * kBatchStrideC + row * kLdc + column;
        sum += kBeta * small_integer(in_c, 3);  // what fill_c wrote there
#elif GEMM_HAS_C && GEMM_BATCHED
        sum += kBeta * small_integer(problem * kBatchStrideC + row * kLdc + column, 3);  // what fill_c wrote there
#elif GEMM_HAS_C
        sum += kBeta * small_integer(row * kLdc + column, 3);  // what fill_c wrote there
#endif
        if (!equal(d[in_d], rounded(sum))) atomicAdd(wrong, 1ull);
    }
}

int main() {
    Input *a, *b;
    ElementD* d;
    unsigned long long* wrong;
    check(cudaMalloc(&a, std::max(kElementsA, 1ll) * sizeof(Input)), "allocate A");
#if !GEMM_SYMMETRIC
    check(cudaMalloc(&b, std::max(kElementsB, 1ll) * sizeof(Input)), "allocate B");
#endif
    check(cudaMalloc(&d, std::max(kElementsD, 1ll) * sizeof(ElementD)), "allocate D");
    check(cudaMallocManaged(&wrong, sizeof(*wrong)), "allocate a counter");
    fill<<<1024, 256>>>(a, kElementsA, 1);
#if GEMM_SYMMETRIC
    b = a;  // B is A transposed
#elif GEMM_MIXED_INPUTS
    fill_b<<<1024, 256>>>(b, kElementsB, 2);
#else
    fill<<<1024, 256>>>(b, kElementsB, 2);
#endif
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

    GEMM_SET_ARGUMENTS();

    launch(args);
    check(cudaGetLastError(), "launch");
    *wrong = 0;
    check(cudaDeviceSynchronize(), "run");
    count_wrong<<<4096, 256>>>(a, b, d, wrong);
    check(cudaDeviceSynchronize(), "verify");
    std::printf("%s: %llu of %lld elements wrong\n", *wrong == 0 ? "verified" : "WRONG", *wrong, kResults);

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
    std::printf("%.2f us, %.1f TFLOP/s (small integers in L2: real data is slower)\n", median, kFlops / median * 1e-6);
    return *wrong == 0 ? 0 : 1;
}
