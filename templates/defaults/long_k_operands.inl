// clang-format off
#include "simt_long_k/operand_k_major.cuh"
#include "simt_long_k/operand_mn_major.cuh"
#if GEMM_A_K_MAJOR
using OperandA = KMajorOperand<kBlockM, kThreadM, kWarpLanesM, kVectorA, kPitchA>;
#else
using OperandA = MNMajorOperand<kBlockM, kThreadM, kWarpLanesM, kVectorA, kPitchA, kPieceA>;
#endif
#if GEMM_B_K_MAJOR
using OperandB = KMajorOperand<kBlockN, kThreadN, kWarpLanesN, kVectorB, kPitchB>;
#else
using OperandB = MNMajorOperand<kBlockN, kThreadN, kWarpLanesN, kVectorB, kPitchB, kPieceB>;
#endif
