#pragma once
// ---- parameters
// What follows from the parameters.
constexpr int kPanelK = 64;  // of a k-tile each warp's part: rows of 128 bytes, which TMA swizzles
constexpr int kSlices = kBlockK / kPanelK;  // warps of a block
constexpr int kThreads = kSlices * 32;
constexpr int kTilesM = kBlockM / 16;  // mmas of a warp
constexpr int kTilesN = kBlockN / 8;
#if GEMM_ACCUMULATOR_F16
constexpr int kRegistersC = 2;  // of an mma's sums, per thread
#else
constexpr int kRegistersC = 4;
#endif
// sP: each warp's sums of a tile (kRowsP, kColumnsP) of D, row pitch kPitchP, such that the lanes of a warp write to different banks.
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
