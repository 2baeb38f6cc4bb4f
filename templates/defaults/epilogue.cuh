#pragma once
#if GEMM_SWAP_AB
#include "../epilogue_tma_transposed.cuh"
#elif GEMM_STORE_STAGED
#include "../epilogue_staged.cuh"
#else
#include "../wgmma_epilogue_registers.cuh"
#endif
