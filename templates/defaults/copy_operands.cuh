#pragma once
#if GEMM_CLUSTER > 1
#include "wgmma/copy_operands_to_cluster.cuh"
#else
#include "wgmma/copy_operands_to_block.cuh"
#endif
