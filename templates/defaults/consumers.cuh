#pragma once
#if GEMM_PINGPONG
#include "wgmma/consumers_pingpong.cuh"
#elif GEMM_OVERLAPPED
#include "wgmma/consumers_overlapped.cuh"
#else
#include "wgmma/consumers_cooperative.cuh"
#endif
