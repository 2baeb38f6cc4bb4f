#pragma once
// Defaults of simt_long_k, where they are its own.
#ifndef GEMM_TYPE_AB
#define GEMM_TYPE_AB 2
#endif
#ifndef GEMM_TYPE_D
#define GEMM_TYPE_D 2
#endif
#ifndef GEMM_SPLIT_K
#define GEMM_SPLIT_K 2
#endif
#include "params.cuh"

// Derived from the parameters.
constexpr int kThreads = kWarps * 32;
constexpr int kStepK = 4 * kWarpLanesK * kWarps;  // k that all threads take at once, four each
constexpr int kSteps = kBlockK / kStepK;
constexpr int kUnroll = kThreadM * kThreadN >= 48 || kSteps % 2 != 0   ? 1
                        : kThreadM * kThreadN >= 24 || kSteps % 4 != 0 ? 2
                                                                       : 4;

// Tiles in shared memory have the rows of global memory: kBlockK k, or the kBlockM (kBlockN) elements of one k. Pitches
// are in floats. They put lanes that read at once into different banks.
#if GEMM_A_K_MAJOR || GEMM_B_K_MAJOR
// Where a row goes along k, a thread's four k are neighbours: one 16-byte load.
constexpr int kPitchK = 1;  // from one of a thread's k to the next
constexpr int kLanePitchK = 4;  // from one lane's first k to the next lane's
constexpr int kRowPitch = kWarpLanesK >= 8 ? kBlockK : kBlockK + ((4 * kWarpLanesK - kBlockK) % 32 + 32) % 32;
#else
constexpr int kPitchK = kWarpLanesK;  // from one of a thread's k to the next
constexpr int kLanePitchK = 1;  // from one lane's first k to the next lane's
#endif
#if !GEMM_A_K_MAJOR || !GEMM_B_K_MAJOR

// Neighbours along M or N in one piece of a thread, where rows go along M or N.
__device__ constexpr int piece_of(int elements) { return elements % 4 == 0 ? 4 : elements % 2 == 0 ? 2 : 1; }

// The pitch of rows along M or N: whole pieces and whole vectors, an odd number of them where lanes read several rows
// at once.
__device__ constexpr int pitch_of(int elements, int vector, int piece) {
    const int unit = vector > piece ? vector : piece;
    const int units = (elements + unit - 1) / unit;
    return unit * (kWarpLanesK > 1 ? units | 1 : units);
}
#endif

#if GEMM_A_K_MAJOR
constexpr int kPieceA = 1;
constexpr int kPitchA = kRowPitch;
constexpr int kStageA = kBlockM * kPitchA;
#else
constexpr int kPieceA = piece_of(kThreadM);
constexpr int kPitchA = pitch_of(kBlockM, kVectorA, kPieceA);
constexpr int kStageA = kBlockK * kPitchA;
#endif
#if GEMM_B_K_MAJOR
constexpr int kPieceB = 1;
constexpr int kPitchB = kRowPitch;
constexpr int kStageB = kBlockN * kPitchB;
#else
constexpr int kPieceB = piece_of(kThreadN);
constexpr int kPitchB = pitch_of(kBlockN, kVectorB, kPieceB);
constexpr int kStageB = kBlockK * kPitchB;
#endif

constexpr int kParts = kWarps * kWarpLanesK;  // threads of a block that have sums of the same elements
constexpr int kLanesMN = kWarpLanesM * kWarpLanesN;
constexpr int kTileSums = kBlockM * kBlockN;
constexpr int kPartPitch = kLanesMN * (kThreadM * kThreadN | 1);  // an odd number of parts: lanes use different banks

// The number of lanes that add up one element: a power of two.
__device__ constexpr int sum_threads() {
    int threads = 1;
    while (threads < 32 && 2 * threads * kTileSums <= kThreads) threads *= 2;
    return threads;
}
constexpr int kSumThreads = sum_threads();
