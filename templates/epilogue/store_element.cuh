#pragma once
#include "common/numeric.cuh"
#if GEMM_EXACT_SUMS
__device__ __forceinline__ void store(ElementD* d, int value) { *d = value; }
#elif GEMM_TYPE_D >= 6
__device__ __forceinline__ void store(ElementD* d, float value) { *d = static_cast<ElementD>(to_integer(value)); }
#elif GEMM_TYPE_D >= 4
__device__ __forceinline__ void store(ElementD* d, float value) { *d = static_cast<ElementD>(pack_d(value, 0.0f)); }
#elif GEMM_TYPE_D != 2
__device__ __forceinline__ void store(Bits* d, float value) { *d = static_cast<Bits>(pack_d(value, 0.0f)); }
#endif
#if GEMM_TYPE_D == 2 || (GEMM_PARTIAL_SUMS && !GEMM_EPILOGUE_SHARED)
__device__ __forceinline__ void store(float* d, float value) { *d = value; }
#endif
