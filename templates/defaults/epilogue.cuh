#pragma once
#if GEMM_SWAP_AB
#include "epilogue/epilogue_tma_transposed.cuh"
#else
#include "epilogue/epilogue_staged.cuh"
#endif
