#pragma once
// Defaults of simt_hierarchical and simt_long_k, where they are their own.
#ifndef GEMM_TYPE_AB
#define GEMM_TYPE_AB 2
#endif
#ifndef GEMM_TYPE_D
#define GEMM_TYPE_D 2
#endif
#ifndef GEMM_VECTOR_D
#define GEMM_VECTOR_D 4
#endif
#ifndef GEMM_EPILOGUE_SHARED
#define GEMM_EPILOGUE_SHARED 0
#endif
#ifndef GEMM_SPLIT_K
#define GEMM_SPLIT_K 2
#endif
#include "params.cuh"
