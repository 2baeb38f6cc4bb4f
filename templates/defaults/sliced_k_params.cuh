#pragma once
// Defaults of mma_sliced_k, so that the template compiles alone. A rendering puts the chosen values here.
#define GEMM_TENSOR_MAPS 1  // TMA copies A and B
#ifndef GEMM_LONG_B
#define GEMM_LONG_B 1  // B is the long operand, A has few rows; else A, and B has few columns
#endif
#ifndef GEMM_EARLY
#define GEMM_EARLY 0  // the long operand is constant: its first panels are fetched before the launch before has ended
#endif
#ifndef GEMM_BLOCK_M
#define GEMM_BLOCK_M 16  // rows of the long operand
#endif
#ifndef GEMM_BLOCK_N
#define GEMM_BLOCK_N 8  // of the few
#endif
#ifndef GEMM_BLOCK_K
#define GEMM_BLOCK_K 512  // of eight warps
#endif
#include "params.cuh"

constexpr bool kLongKMajor = GEMM_A_K_MAJOR, kFewKMajor = GEMM_B_K_MAJOR;
