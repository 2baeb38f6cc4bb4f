#pragma once
// Defaults of simt_hierarchical, where they are its own.
#ifndef GEMM_TYPE_AB
#define GEMM_TYPE_AB 2
#endif
#ifndef GEMM_TYPE_D
#define GEMM_TYPE_D 2
#endif
#ifndef GEMM_VECTOR_D
#define GEMM_VECTOR_D 4
#endif
#ifndef GEMM_EPILOGUE_SHARED
#define GEMM_EPILOGUE_SHARED 0
#endif
#ifndef GEMM_SPLIT_K
#define GEMM_SPLIT_K 2
#endif
#include "params.cuh"

// Derived from the parameters.
constexpr int kWarpsM = kBlockM / kWarpM;  // warps of a block along M and N
constexpr int kWarpsN = kBlockN / kWarpN;
constexpr int kThreads = kWarpsM * kWarpsN * 32;
constexpr int kLanesM = kWarpM / kThreadM;  // lanes of a warp along M and N
constexpr int kLanesN = kWarpN / kThreadN;

// Tiles in shared memory have a row for each k, with neighbours along M or N. Where neighbours in global memory are
// along k, the copy transposes: a warp writes kKLanes rows at once, and padding puts these into different banks.
#if GEMM_A_K_MAJOR
constexpr int kPitchA = kBlockM + 32 / kKLanes;  // floats
#else
constexpr int kPitchA = kBlockM;  // floats
#endif
#if GEMM_B_K_MAJOR
constexpr int kPitchB = kBlockN + 32 / kKLanes;
#else
constexpr int kPitchB = kBlockN;
#endif
constexpr int kStageA = kBlockK * kPitchA;
constexpr int kStageB = kBlockK * kPitchB;
// Floats from row to row of the epilogue's buffer. Eight lanes write at once, rows of min(kLanesN, 4) quads: these meet
// different banks.
constexpr int kPitchD = (kWarpN + 31) / 32 * 32 + 4 * (kLanesN < 4 ? kLanesN : 4);

// The column of sums that a row updates at a step: see rank_1_update.
__device__ constexpr int column_of_step(int row, int step) {
#if GEMM_UPDATE_ORDER == 0
    return row % 2 == 0 ? step : kThreadN - 1 - step;
#elif GEMM_UPDATE_ORDER == 1
    return row % 2 == 0 ? kThreadN - 1 - step : step;
#else
    const int place = row % 2 == 0 ? step : kThreadN - 1 - step;
    return place < kThreadN / 2 ? 2 * place : 2 * place - kThreadN + 1;
#endif
}
