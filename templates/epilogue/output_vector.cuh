#pragma once
#include "epilogue/output_tile.cuh"
#include "epilogue/store_element.cuh"
// sums -> gD: finished and converted to D's type, a vector of a row at a time.
struct alignas(kVectorD * sizeof(ElementOut)) OutputVector {
    ElementOut element[kVectorD];
};
#if GEMM_READ_C
struct alignas(kVectorD * sizeof(ElementC)) VectorC {
    ElementC element[kVectorD];
};
#endif

#if GEMM_VECTOR_D > 1
// kVectorD elements of a row of D; a vector cut by the right edge goes element by element.
#else
// One element of D.
#endif
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const float* sum) {
    ElementOut* d = output.d + row * output.ldd + column;
#if GEMM_READ_C
    const ElementC* c = output.c + row * output.ldc + column;
#endif
#if GEMM_VECTOR_D > 1
    if (column + kVectorD > output.n) {
#pragma unroll
        for (int i = 0; i < kVectorD; ++i) {
            if (column + i >= output.n) break;
#if GEMM_READ_C
            store(d + i, finish(output, sum[i], [&] { return c_to_float(c[i]); }));
#else
            store(d + i, finish(output, sum[i]));
#endif
        }
        return;
    }
#endif
#if GEMM_READ_C
    VectorC addend = {};
    if (c_factor(output) != 0.0f) addend = *reinterpret_cast<const VectorC*>(c);
#endif
    OutputVector vector;
#pragma unroll
    for (int i = 0; i < kVectorD; ++i) {
#if GEMM_READ_C
        store(&vector.element[i], finish(output, sum[i], [&] { return c_to_float(addend.element[i]); }));
#else
        store(&vector.element[i], finish(output, sum[i]));
#endif
    }
    *reinterpret_cast<OutputVector*>(d) = vector;
}
