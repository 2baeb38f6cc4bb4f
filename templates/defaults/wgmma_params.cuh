#pragma once
// Defaults of wgmma_warp_specialized, so that the template compiles alone. A rendering puts the chosen values here.
#define GEMM_TENSOR_MAPS 1  // TMA copies A and B
#define GEMM_SLICES 1  // D goes through shared memory in slices, which the epilogue finishes in pairs
#ifndef GEMM_BLOCK_K
#define GEMM_BLOCK_K (128 / GEMM_ELEMENT_BYTES)  // whole panels
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
#define GEMM_SLICE_F32 (GEMM_TYPE_D == 2 || GEMM_TYPE_D == 7 || GEMM_SLICE_OF_SUMS)
#endif
#ifndef GEMM_VECTOR_BYTES
#define GEMM_VECTOR_BYTES 4  // of a row of D that is stored from shared memory, by a thread at once
#endif
#ifndef GEMM_STMATRIX
#define GEMM_STMATRIX (GEMM_TYPE_D < 2)
#endif
#ifndef GEMM_STMATRIX_X2
#define GEMM_STMATRIX_X2 0
#endif
#ifndef GEMM_PREFETCH_PANELS
#define GEMM_PREFETCH_PANELS (GEMM_TILE_PANELS && !GEMM_PINGPONG)  // into L2
#endif
#ifndef GEMM_READ_PARTS
#define GEMM_READ_PARTS 0  // operands are read from global memory
#endif
#ifndef GEMM_ROW_VECTORS
#define GEMM_ROW_VECTORS 0  // lanes pass each other an operand's elements
#endif
#ifndef GEMM_ODD_EDGES
#define GEMM_ODD_EDGES 0  // a pair of an operand's elements may reach beyond D's last column
#endif
#ifndef GEMM_A_IN_REGISTERS
#define GEMM_A_IN_REGISTERS 0  // wgmmas take A from there, B from shared memory
#endif
#ifndef GEMM_PROMOTED
#define GEMM_PROMOTED 0  // sums of 8-bit floats begin anew every 128 of K
#endif
#ifndef GEMM_ELEMENT_BYTES
#define GEMM_ELEMENT_BYTES (GEMM_PROMOTED ? 1 : 2)  // of A and B
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
#if GEMM_SLICE_F32 && GEMM_TYPE_D != 7
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
constexpr int kKBlocks = kBlockK * GEMM_ELEMENT_BYTES / 32;
#if GEMM_PROMOTED
constexpr int kWaveN = kWarpgroupN;
constexpr int kPromotedBlocks = 4;  // 128 of K
#endif
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
constexpr int kPanelRows = 64;  // of a tile operand
constexpr int kTilePanels = kConsumers * ((kWarpgroupN + kSliceColumns - 1) / kSliceColumns);
constexpr int kTilesOfVector = 1;
#else
constexpr int kPanelRows = kBlockM;
constexpr int kTilePanels = kBlockN / kWarpgroupN * ((kWarpgroupN + kSliceColumns - 1) / kSliceColumns);
constexpr int kTilesOfVector = kTilesM;
#endif
#if GEMM_SYMMETRIC
constexpr int kStagingBytes = kConsumers * 4 * kSlices * 16 * kSliceColumns * 2 * static_cast<int>(sizeof(Staged));
#else
constexpr int kStagingBytes = kConsumers * 4 * kSlices * 16 * kSliceColumns * static_cast<int>(sizeof(Staged));
#endif

// sA and sB hold panels of rows of kPanelBytes: what TMA's swizzle spans.
constexpr int kPanelElements = kPanelBytes / GEMM_ELEMENT_BYTES;
constexpr unsigned long long kSwizzleMode = 1;  // of a matrix descriptor: 128 bytes
