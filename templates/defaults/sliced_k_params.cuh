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

constexpr int kElementBytes = 2;  // of A and B
constexpr bool kLongKMajor = GEMM_A_K_MAJOR, kFewKMajor = GEMM_B_K_MAJOR;

// Derived from the parameters.
constexpr int kPanelK = 64;  // each warp's part of a k-tile: rows of 128 bytes, which TMA swizzles
constexpr int kSlices = kBlockK / kPanelK;  // warps of a block
constexpr int kThreads = kSlices * 32;
constexpr int kTilesM = kBlockM / 16;  // mmas of a warp
constexpr int kTilesN = kBlockN / 8;
#if GEMM_ACCUMULATOR_F16
constexpr int kRegistersC = 2;  // of a thread for an mma's sums
#else
constexpr int kRegistersC = 4;
#endif
// sP: each warp's sums of a tile (kRowsP, kColumnsP) of D. The row pitch kPitchP puts the lanes of a warp into
// different banks.
#if GEMM_LONG_B
constexpr int kRowsP = kBlockN;
constexpr int kColumnsP = kBlockM;
constexpr int kPitchP = kColumnsP + 4;
#else
constexpr int kRowsP = kBlockM;
constexpr int kColumnsP = kBlockN;
constexpr int kPitchP = kColumnsP % 16 == 0 ? kColumnsP + 8 : kColumnsP;
#endif
constexpr int kSumsOfAWarp = kRowsP * kPitchP;
