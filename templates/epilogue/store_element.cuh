#pragma once
#include "common/numeric.cuh"
#if GEMM_TYPE_D != 2
__device__ __forceinline__ void store(Bits* d, float value) { *d = static_cast<Bits>(pack_d(value, 0.0f)); }
#endif
#if GEMM_TYPE_D == 2 || (GEMM_PARTIAL_SUMS && !GEMM_EPILOGUE_SHARED)
__device__ __forceinline__ void store(float* d, float value) { *d = value; }
#endif
