#pragma once
#include "epilogue/finish_pair.cuh"
#include "epilogue/store_element.cuh"
__device__ __forceinline__ void store_pair(const OutputTile& output, int row, int column, float2 sum) {
    if (row >= output.m) return;
#if GEMM_READ_C
    sum = finish_pair(output, row, column, sum);
#else
    sum = finish_pair(output, sum);
#endif
    auto* d = output.d + row * output.ldd + column;
#if GEMM_VECTOR_D > 1
    if (column + 1 < output.n)
#if GEMM_STORE_F32
        *reinterpret_cast<float2*>(d) = sum;
#else
        *reinterpret_cast<unsigned*>(d) = pack_d(sum.x, sum.y);
#endif
    else if (column < output.n)
        store(d, sum.x);
#else
    if (column < output.n) store(d, sum.x);
    if (column + 1 < output.n) store(d + 1, sum.y);
#endif
}
