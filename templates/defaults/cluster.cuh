#pragma once
#if GEMM_CLUSTER > 1
#include "ptx/cluster.cuh"
#endif
