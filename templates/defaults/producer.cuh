#pragma once
#if GEMM_EARLY
#include "wgmma/producer_early.cuh"
#else
#include "wgmma/producer_waiting.cuh"
#endif
