#pragma once
// What follows from the parameters.
constexpr int kWarpsM  = kBlockM / kWarpM;                      // warps of a block along M and N
constexpr int kWarpsN  = kBlockN / kWarpN;
constexpr int kThreads = kWarpsM * kWarpsN * 32;
constexpr int kKBlocks = kBlockK / kMmaK;
constexpr int kTilesM  = kWarpM / kMmaM;                        // mma atoms of a warp tile along M and N
constexpr int kTilesN  = kWarpN / kMmaN;

#if !GEMM_WMMA
constexpr int kRegistersA = kMmaM * kMmaK / 64;                 // 32-bit registers a thread gives to one atom's A, B, C
constexpr int kRegistersB = kMmaN * kMmaK / 64;
#if GEMM_ACCUMULATOR_F16
constexpr int kRegistersC = 2;
#else
constexpr int kRegistersC = 4;
#endif
constexpr int kFragmentA = kTilesM * kRegistersA;               // and to a k-block of the warp tile
constexpr int kFragmentB = kTilesN * kRegistersB;
#endif

#if GEMM_WMMA
// Tiles in shared memory: pitch of a row in bytes.
constexpr int kRowPadding = kPadding * 2;
#else
// Tiles in shared memory: pitch of a row in bytes, and 16-byte chunks of a row that a warp's fragments step through.
#if GEMM_SWIZZLE
constexpr int kRowPadding = 0;
#else
constexpr int kRowPadding = 16;
#endif
#endif
#if GEMM_A_K_MAJOR
constexpr int kPitchA      = kBlockK * 2 + kRowPadding;         // sA is (kBlockM, kBlockK)
constexpr int kStageBytesA = kBlockM * kPitchA;
#if !GEMM_WMMA
constexpr int kChunksA     = kBlockK / 8;
#endif
#else
constexpr int kPitchA      = kBlockM * 2 + kRowPadding;         // sA is (kBlockK, kBlockM)
constexpr int kStageBytesA = kBlockK * kPitchA;
#if !GEMM_WMMA
constexpr int kChunksA     = kWarpM / 8;
#endif
#endif
#if GEMM_B_K_MAJOR
constexpr int kPitchB      = kBlockK * 2 + kRowPadding;         // sB is (kBlockN, kBlockK)
#if GEMM_STAGES > 1
constexpr int kStageBytesB = kBlockN * kPitchB;
#endif
#if !GEMM_WMMA
constexpr int kChunksB     = kBlockK / 8;
#endif
#else
constexpr int kPitchB      = kBlockN * 2 + kRowPadding;         // sB is (kBlockK, kBlockN)
#if GEMM_STAGES > 1
constexpr int kStageBytesB = kBlockK * kPitchB;
#endif
#if !GEMM_WMMA
constexpr int kChunksB     = kWarpN / 8;
#endif
#endif
#if GEMM_EPILOGUE_SHARED
constexpr int kPitchC = kWarpN + 8;                             // elements; eight more than a row keep the banks apart
#endif
