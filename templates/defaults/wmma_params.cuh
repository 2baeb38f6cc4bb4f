#pragma once
// Defaults of wmma_multistage, where they are its own.
#ifndef GEMM_MMA_N
#define GEMM_MMA_N 16
#endif
#ifndef GEMM_SWIZZLE
#define GEMM_SWIZZLE 0
#endif
#ifndef GEMM_STAGED_SUMS
#define GEMM_STAGED_SUMS 1
#endif
#ifndef GEMM_STAGED_F32
#define GEMM_STAGED_F32 (!GEMM_ACCUMULATOR_F16)
#endif
#ifndef GEMM_ACCUMULATOR_F16
#define GEMM_ACCUMULATOR_F16 0
#endif
#include "params.cuh"
#include "multistage_tiling.cuh"
