#pragma once
#include "common/input_to_float.cuh"
#include "epilogue/finish_element.cuh"
#include "epilogue/store_element.cuh"

// Elements of A and B as f32, and the epilogue of an element of D. Products of an index and a leading dimension have 64
// bits: a matrix may hold more than 2^31 elements.
#if GEMM_A_K_MAJOR
// A is row-major: k and k + 1 are neighbours.
__device__ __forceinline__ float element_a(const GemmArgs& args, int row, int k) {
    return ab_to_float(args.a[row * args.lda + k]);
}
#else
// A is column-major: row and row + 1 are neighbours.
__device__ __forceinline__ float element_a(const GemmArgs& args, int row, int k) {
    return ab_to_float(args.a[k * args.lda + row]);
}
#endif

#if GEMM_B_K_MAJOR
// B is column-major: k and k + 1 are neighbours.
__device__ __forceinline__ float element_b(const GemmArgs& args, int k, int column) {
    return ab_to_float(args.b[column * args.ldb + k]);
}
#else
// B is row-major: column and column + 1 are neighbours.
__device__ __forceinline__ float element_b(const GemmArgs& args, int k, int column) {
    return ab_to_float(args.b[k * args.ldb + column]);
}
#endif

__device__ __forceinline__ void store_d(const GemmArgs& args, int row, int column, float sum) {
    const float d = finish_element(args, row, column, sum);
    store(args.d + row * args.ldd + column, d);
}
