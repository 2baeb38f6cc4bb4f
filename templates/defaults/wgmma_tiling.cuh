#pragma once
// Derived from the parameters. A rendering prints the values.
#if GEMM_PINGPONG
constexpr int kConsumers = 2;  // warpgroups that multiply, each a whole tile in its turn
constexpr int kConsumersPerTile = 1;
#else
constexpr int kConsumersN = kBlockN / kWarpgroupN;
constexpr int kConsumers =
    kBlockM / kWarpgroupM * kConsumersN;  // warpgroups that multiply, each its part of every tile
constexpr int kConsumersPerTile = kConsumers;
#endif
#if GEMM_WARP_SPECIALIZED
constexpr int kThreads = (kConsumers + 1) * 128;
#else
constexpr int kThreads = kConsumers * 128;
#endif
constexpr int kTilesM = kWarpgroupM / 64;  // wgmmas along M of a warpgroup tile
constexpr int kTilesN = kWarpgroupN / 8;  // of the sums of one, a thread has kRegistersC for every eight columns
#if GEMM_ACCUMULATOR_F16
constexpr int kRegistersC = 2;
#else
constexpr int kRegistersC = 4;
#endif
constexpr int kKBlocks = kBlockK / 16;
#if GEMM_STREAM_K
constexpr int kWarpsPerTile = kConsumersPerTile * 4;
#endif
#if GEMM_CLUSTER > 1
constexpr int kCluster = kClusterM * kClusterN;
constexpr int kReaders = kConsumersPerTile * 4 * kCluster;  // warps that read what TMA copies into a stage of one block
// A bit for each block of a cluster's first column, and of its first row.
constexpr unsigned kColumnOfBlocks = (1 << kClusterM) - 1;
constexpr unsigned kRowOfBlocks = ((1 << kCluster) - 1) / kColumnOfBlocks;
#else
constexpr int kReaders = kConsumersPerTile * 4;  // warps that read a stage
#endif
#if GEMM_OVERLAPPED
constexpr int kPanelRows = 64;  // of C
constexpr int kPanelsC = kConsumers * ((kWarpgroupN + kSliceColumns - 1) / kSliceColumns);
constexpr int kTilesOfC = 1;
#else
constexpr int kPanelRows = kBlockM;
constexpr int kPanelsC = kBlockN / kWarpgroupN * ((kWarpgroupN + kSliceColumns - 1) / kSliceColumns);
constexpr int kTilesOfC = kTilesM;
#endif
constexpr int kStagingBytes = kConsumers * 4 * kSlices * 16 * kSliceColumns * static_cast<int>(sizeof(Staged));

// sA and sB hold panels of rows of kPanelBytes: what TMA's swizzle spans.
constexpr int kPanelElements = kPanelBytes / 2;
constexpr unsigned long long kSwizzleMode = 1;  // of a matrix descriptor: 128 bytes
