#pragma once
// Derived from the parameters.
constexpr int kWarpsM = kBlockM / kWarpM;  // warps of a block along M and N
constexpr int kWarpsN = kBlockN / kWarpN;
constexpr int kThreads = kWarpsM * kWarpsN * 32;
constexpr int kKBlocks = kBlockK / kMmaK;
constexpr int kTilesM = kWarpM / kMmaM;  // atoms of a warp tile along M and N
constexpr int kTilesN = kWarpN / kMmaN;

// Tiles in shared memory: the pitch of a row and the size of a stage, in bytes.
#if GEMM_A_K_MAJOR
constexpr int kPitchA = kBlockK * 2 + kRowPadding;  // sA is (kBlockM, kBlockK)
constexpr int kStageBytesA = kBlockM * kPitchA;
#else
constexpr int kPitchA = kBlockM * 2 + kRowPadding;  // sA is (kBlockK, kBlockM)
constexpr int kStageBytesA = kBlockK * kPitchA;
#endif
#if GEMM_B_K_MAJOR
constexpr int kPitchB = kBlockK * 2 + kRowPadding;  // sB is (kBlockN, kBlockK)
#if GEMM_STAGES > 1
constexpr int kStageBytesB = kBlockN * kPitchB;
#endif
#else
constexpr int kPitchB = kBlockN * 2 + kRowPadding;  // sB is (kBlockK, kBlockN)
#if GEMM_STAGES > 1
constexpr int kStageBytesB = kBlockK * kPitchB;
#endif
#endif
#if !GEMM_SPLIT_CLUSTER
constexpr int kPitchC = kWarpN + 8;  // elements; eight more than a row put its neighbours into other banks
#endif
