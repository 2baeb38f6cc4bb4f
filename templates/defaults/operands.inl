// Of the tiles in operand_a.cuh and operand_b.cuh.
#if GEMM_CLUSTER > 1
using OperandA = KMajorTile<kBlockM, kClusterN>;
using OperandB = KMajorTile<kBlockN, kClusterM>;
#else
using OperandA = KMajorTile<kBlockM>;
using OperandB = KMajorTile<kBlockN>;
#endif
