#pragma once
#if GEMM_OVERLAPPED
#elif GEMM_C_TMA || GEMM_BROADCAST_C
#include "epilogue/store_tile_with_c.cuh"
#else
#include "epilogue/store_tile.cuh"
#endif
