#pragma once
// Defaults of wgmma_warp_specialized, so that the template compiles alone. A rendering puts the chosen values here.
#define GEMM_TENSOR_MAPS 1  // TMA copies A and B
#define GEMM_SLICES 1  // D goes through shared memory in slices, which the epilogue finishes in pairs
#ifndef GEMM_BLOCK_K
#define GEMM_BLOCK_K 64  // whole panels
#endif
#ifndef GEMM_PINGPONG
#define GEMM_PINGPONG 0  // consumers take tiles in turn
#endif
#ifndef GEMM_WARP_SPECIALIZED
#define GEMM_WARP_SPECIALIZED 1  // a producer warp copies; else one thread of those that multiply
#endif
#ifndef GEMM_MBARRIER_ARRIVE
#define GEMM_MBARRIER_ARRIVE 1
#endif
#ifndef GEMM_SETMAXNREG
#define GEMM_SETMAXNREG GEMM_WARP_SPECIALIZED
#endif
#ifndef GEMM_STORE_TMA
#define GEMM_STORE_TMA 1
#endif
#ifndef GEMM_SLICE_F32
#define GEMM_SLICE_F32 (GEMM_TYPE_D == 2 || GEMM_SLICE_OF_SUMS)
#endif
#ifndef GEMM_VECTOR_BYTES
#define GEMM_VECTOR_BYTES 4  // of a row of D that is stored from shared memory, by a thread at once
#endif
#ifndef GEMM_SHIFT_ROWS
#define GEMM_SHIFT_ROWS 0  // rows begin between vectors
#endif
#ifndef GEMM_STMATRIX
#define GEMM_STMATRIX (GEMM_TYPE_D != 2)
#endif
#ifndef GEMM_STMATRIX_X2
#define GEMM_STMATRIX_X2 0
#endif
#ifndef GEMM_PAIRS_OF_C
#define GEMM_PAIRS_OF_C GEMM_STORE_TMA  // where C is one row
#endif
#ifndef GEMM_A_IN_REGISTERS
#define GEMM_A_IN_REGISTERS 0  // wgmmas take A from there, B from shared memory
#endif
#ifndef GEMM_EARLY
#define GEMM_EARLY 0  // constant operands are fetched before the previous kernel has ended
#endif
#ifndef GEMM_EARLY_A
#define GEMM_EARLY_A GEMM_EARLY
#endif
#ifndef GEMM_EARLY_B
#define GEMM_EARLY_B 0
#endif
#include "params.cuh"

#if GEMM_OVERLAPPED
constexpr int kWarpgroupM = 128;
#else
constexpr int kWarpgroupM = 64;
#endif
constexpr int kWarpgroupN = 128;
constexpr int kPanelBytes = 128;
#if GEMM_A_IN_REGISTERS
constexpr int kFragmentsA = 2;
#endif
#if GEMM_CLUSTER > 1
constexpr int kClusterM = GEMM_CLUSTER;
constexpr int kClusterN = 1;
#endif
constexpr int kProducerRegisters = 40;
constexpr int kConsumerRegisters = 232;
#if GEMM_SLICE_F32
using Staged = float;
#else
using Staged = ElementD;
#endif
constexpr int kSliceColumns = 128 / sizeof(Staged);
constexpr int kRestColumns = GEMM_REST_COLUMNS;
constexpr int kSlices = 2;
#if GEMM_EARLY
constexpr bool kEarlyA = GEMM_EARLY_A, kEarlyB = GEMM_EARLY_B;
#endif
#include "wgmma_tiling.cuh"
