#pragma once
#if GEMM_STAGED_SUMS
#include "epilogue/staged_sums.cuh"
#else
#include "epilogue/staged_results.cuh"
#endif
