#pragma once
// Defaults of mma_multistage. A rendering prints the values.
#include "params.cuh"
#include "multistage_tiling.cuh"

// 32-bit registers of a thread for A, B and C: for one atom, and for a k-block of the warp tile.
constexpr int kRegistersA = kMmaM * kMmaK / 64;
constexpr int kRegistersB = kMmaN * kMmaK / 64;
#if GEMM_ACCUMULATOR_F16
constexpr int kRegistersC = 2;
#else
constexpr int kRegistersC = 4;
#endif
constexpr int kFragmentA = kTilesM * kRegistersA;
constexpr int kFragmentB = kTilesN * kRegistersB;

// 16-byte chunks along a row of shared memory that the fragments of a warp take.
#if GEMM_A_K_MAJOR
constexpr int kChunksA = kBlockK / 8;
#else
constexpr int kChunksA = kWarpM / 8;
#endif
#if GEMM_B_K_MAJOR
constexpr int kChunksB = kBlockK / 8;
#else
constexpr int kChunksB = kWarpN / 8;
#endif
