#pragma once
#include "epilogue/output_tile.cuh"
#include "epilogue/store_element.cuh"

// sums -> gD: finishes sums, converts them to D's type, and stores a vector of a row at a time.
struct alignas(kVectorD * sizeof(ElementOut)) OutputVector {
    ElementOut element[kVectorD];
};
#if GEMM_READ_C
struct alignas(kVectorD * sizeof(ElementC)) VectorC {
    ElementC element[kVectorD];
};
#else
#include "epilogue/finish_element.cuh"
#endif
#if GEMM_MORE_OUTPUTS && GEMM_VECTOR_D > 1 && !GEMM_PARTIAL_SUMS
#include "finish_vector.cuh"
#endif

// Stores a vector of a row of D. Where the right edge cuts it, its elements are stored one by one.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const float* sum) {
    ElementOut* d = output.d + row * output.ldd + column;
// clang-format off
#if GEMM_READ_C
    const ElementC* c = output.c + row * output.ldc + column;
    const auto finished = [&](int i) { return finish(output, sum[i], [&] { return c_to_float(c[i]); }); };
#else
    const auto finished = [&](int i) { return finish_element(output, row, column + i, sum[i]); };
#endif
// clang-format on
#if GEMM_VECTOR_D > 1
    if (column + kVectorD > output.n) {
#pragma unroll
        for (int i = 0; i < kVectorD; ++i) {
            if (column + i >= output.n) break;
            store(d + i, finished(i));
        }
        return;
    }
#endif
#if GEMM_READ_C
    VectorC vector_c = {};
    if (c_factor(output) != 0.0f) vector_c = *reinterpret_cast<const VectorC*>(c);
    c = vector_c.element;
#endif
    OutputVector vector;
#if GEMM_MORE_OUTPUTS && GEMM_VECTOR_D > 1 && !GEMM_PARTIAL_SUMS
    float acc[kVectorD], results[kVectorD];
#pragma unroll
    for (int i = 0; i < kVectorD; ++i) acc[i] = sum[i];
    finish_vector(output, row, column, acc, results);
#pragma unroll
    for (int i = 0; i < kVectorD; ++i) store(&vector.element[i], results[i]);
#else
#pragma unroll
    for (int i = 0; i < kVectorD; ++i) store(&vector.element[i], finished(i));
#endif
    *reinterpret_cast<OutputVector*>(d) = vector;
}
