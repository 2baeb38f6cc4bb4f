#pragma once
#if GEMM_PINGPONG
#include "../consumers_pingpong.cuh"
#elif GEMM_OVERLAPPED
#include "../consumers_overlapped.cuh"
#else
#include "../consumers_cooperative.cuh"
#endif
