// The tiles of A and B in shared memory.
#include "wgmma/operand_k_major.cuh"
#if GEMM_CLUSTER > 1
using OperandA = KMajorTile<kBlockM, kClusterN>;
using OperandB = KMajorTile<kBlockN, kClusterM>;
#else
using OperandA = KMajorTile<kBlockM>;
using OperandB = KMajorTile<kBlockN>;
#endif
