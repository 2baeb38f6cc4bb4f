#pragma once
#include "epilogue/store_element.cuh"
#if !GEMM_READ_C
#include "epilogue/finish_element.cuh"
#endif
#if GEMM_MORE_OUTPUTS && GEMM_VECTOR_D > 1
#include "finish_vector.cuh"
#endif

// rC -> sC -> gD. A warp writes the sums of kMmaM rows of its tile at a time to its own part of shared memory. It reads
// them back as whole vectors of a row, and finishes these: its stores (and its reads of C) cover runs of kWarpN
// elements.
#if GEMM_VECTOR_D * GEMM_STAGED_F32 > 8
struct alignas(16) StagedVector {
#else
struct alignas(kVectorD * sizeof(Staged)) StagedVector {
#endif
    Staged element[kVectorD];
};
#if GEMM_EXACT_SUMS || GEMM_STAGED_F32 == GEMM_STORE_F32
using OutputVector = StagedVector;
#else
struct alignas(kVectorD * sizeof(ElementOut)) OutputVector {
    ElementOut element[kVectorD];
};
#endif

#if GEMM_EXACT_SUMS
__device__ __forceinline__ int staged_sum(int sum) { return sum; }
#elif GEMM_STAGED_F32
__device__ __forceinline__ float staged_sum(float sum) { return sum; }
#else
__device__ __forceinline__ float staged_sum(Bits sum) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(sum));
    return result;
}
#endif

#if GEMM_READ_C
struct alignas(kVectorD * sizeof(ElementC)) VectorC {
    ElementC element[kVectorD];
};

// A vector of C. It is zero where the edge cuts the vector, and where nothing is read.
__device__ __forceinline__ VectorC load_c(const OutputTile& output, int row, int column) {
    VectorC c = {};
    if (c_factor(output) != 0.0f && row < output.m && column + kVectorD <= output.n)
        c = *reinterpret_cast<const VectorC*>(output.c + row * output.ldc + column);
    return c;
}

// Stores a vector of a row of D, with one of C. Where the right edge cuts it, its elements are stored one by one.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged,
                                             const VectorC& vector_c) {
    const ElementC* c = output.c + row * output.ldc + column;
    const auto finished = [&](int i) {
        return finish(output, staged_sum(staged[i]), [&] { return c_to_float(c[i]); });
    };
#else
// Stores a vector of a row of D. Where the right edge cuts it, its elements are stored one by one.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged) {
    const auto finished = [&](int i) { return finish_element(output, row, column + i, staged_sum(staged[i])); };
#endif
    if (row >= output.m || column >= output.n) return;
    auto* d = output.d + row * output.ldd + column;
#if GEMM_VECTOR_D > 1
    if (column + kVectorD > output.n) {
#pragma unroll 1
        for (int i = 0; column + i < output.n; ++i) store(d + i, finished(i));
        return;
    }
#endif
    const StagedVector sums = *reinterpret_cast<const StagedVector*>(staged);
    staged = sums.element;
#if GEMM_READ_C
    c = vector_c.element;
#endif
    OutputVector value;
#if GEMM_MORE_OUTPUTS && GEMM_VECTOR_D > 1
    float acc[kVectorD], results[kVectorD];
#pragma unroll
    for (int i = 0; i < kVectorD; ++i) acc[i] = staged_sum(staged[i]);
    finish_vector(output, row, column, acc, results);
#pragma unroll
    for (int i = 0; i < kVectorD; ++i) store(&value.element[i], results[i]);
#else
#pragma unroll
    for (int i = 0; i < kVectorD; ++i) store(&value.element[i], finished(i));
#endif
    *reinterpret_cast<OutputVector*>(d) = value;
}
