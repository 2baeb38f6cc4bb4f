#pragma once
// ---- parameters
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
