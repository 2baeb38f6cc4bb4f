#pragma once
#if GEMM_SWAP_AB
#include "epilogue/epilogue_tma_transposed.cuh"
#elif GEMM_STORE_STAGED
#include "epilogue/epilogue_staged.cuh"
#else
#include "epilogue/wgmma_epilogue_registers.cuh"
#endif
