#pragma once
// ---- parameters
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
