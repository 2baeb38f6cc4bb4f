#pragma once
#if GEMM_STREAM_K
#include "scheduler/partial_sums.cuh"
#else
#include "scheduler/tile_walk.cuh"
#endif
