#pragma once
#if GEMM_DEPENDENT_LAUNCH
#include "common/dependent_launch.cuh"
#endif
