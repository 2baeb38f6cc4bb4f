#pragma once
#include "epilogue_expression.cuh"
#include "common/numeric.cuh"
#if GEMM_EXACT_SUMS
// D's element at (row, column) from its sum.
template <typename Row>
__device__ __forceinline__ int finish_element(const GemmArgs& args, Row /*row*/, int /*column*/, int sum) {
    return finish(args, sum);
}
#elif GEMM_HAS_C
// D's element at (row, column) from its sum and C's element.
template <typename Row>
__device__ __forceinline__ float finish_element(const GemmArgs& args, Row row, int column, float sum) {
    return finish(args, sum, [&] { return c_to_float(args.c[row * args.ldc + column]); });
}
#elif !GEMM_EPILOGUE
// D's element at (row, column) from its sum.
template <typename Row>
__device__ __forceinline__ float finish_element(const GemmArgs& args, Row /*row*/, int /*column*/, float sum) {
    return finish(args, sum);
}
#endif
