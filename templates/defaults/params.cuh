#pragma once
// Defaults, so that a template compiles alone (nvcc -I templates/defaults) and a family sets only what it has. A
// rendering puts the chosen values here.
#ifndef GEMM_BLOCK_M
#define GEMM_BLOCK_M 128
#endif
#ifndef GEMM_BLOCK_N
#define GEMM_BLOCK_N 128
#endif
#ifndef GEMM_BLOCK_K
#define GEMM_BLOCK_K 32
#endif
#ifndef GEMM_WARP_M
#define GEMM_WARP_M 64
#endif
#ifndef GEMM_WARP_N
#define GEMM_WARP_N 64
#endif
#ifndef GEMM_MMA_M
#define GEMM_MMA_M 16
#endif
#ifndef GEMM_MMA_N
#define GEMM_MMA_N 8
#endif
#ifndef GEMM_MMA_K
#define GEMM_MMA_K 16
#endif
#ifndef GEMM_STAGES
#define GEMM_STAGES 4
#endif
#ifndef GEMM_MBARRIER_ARRIVE
#define GEMM_MBARRIER_ARRIVE 0  // threads arrive at mbarriers without announcing bytes
#endif
#ifndef GEMM_TENSOR_MAPS
#define GEMM_TENSOR_MAPS 0  // TMA copies A and B
#endif
#ifndef GEMM_BATCHED
#define GEMM_BATCHED 0  // a launch has many problems
#endif
#ifndef GEMM_NESTED
#define GEMM_NESTED 0  // along two dimensions
#endif
#ifndef GEMM_GROUPED_BY_K
#define GEMM_GROUPED_BY_K 0  // each problem has a part of K
#endif
#ifndef GEMM_SYMMETRIC
#define GEMM_SYMMETRIC 0  // B is A transposed, and half of D's elements are computed
#endif
#ifndef GEMM_GATHERED
#define GEMM_GATHERED 0  // an index names the rows of A
#endif
#ifndef GEMM_CLUSTER
#define GEMM_CLUSTER 1  // blocks of a cluster that takes tiles together and shares operands
#endif
#ifndef GEMM_SWAP_AB
#define GEMM_SWAP_AB 0  // D^T = B^T A^T
#endif
#ifndef GEMM_MORE_OUTPUTS
#define GEMM_MORE_OUTPUTS 0  // the epilogue's text stores other matrices beside D
#endif
#ifndef GEMM_REDUCE_ROWS
#define GEMM_REDUCE_ROWS 0  // some reduction has a result for each column
#endif
#ifndef GEMM_REDUCE_COLUMNS
#define GEMM_REDUCE_COLUMNS 0  // some reduction has a result for each row
#endif
#ifndef GEMM_REDUCE_ALL
#define GEMM_REDUCE_ALL 0  // some reduction has one result
#endif
#ifndef GEMM_REDUCTION_TIMES
#define GEMM_REDUCTION_TIMES 0  // some result is multiplied by a number
#endif
#ifndef GEMM_REDUCTION_OVER
#define GEMM_REDUCTION_OVER 0  // some result is divided by a number
#endif
#ifndef GEMM_STORE_TMA
#define GEMM_STORE_TMA 0
#endif
#ifndef GEMM_SLICE_OF_SUMS
#define GEMM_SLICE_OF_SUMS 0  // C is added to rows on their way from shared memory
#endif
#ifndef GEMM_REST_COLUMNS
#define GEMM_REST_COLUMNS 0  // of D, narrower than a slice
#endif
#ifndef GEMM_LDMATRIX_A
#define GEMM_LDMATRIX_A 4
#endif
#ifndef GEMM_LDMATRIX_B
#define GEMM_LDMATRIX_B 4
#endif
#ifndef GEMM_SWIZZLE
#define GEMM_SWIZZLE 1
#endif
#ifndef GEMM_CACHE_ALL
#define GEMM_CACHE_ALL 0  // 16-byte cp.async goes through L1 as well
#endif
#ifndef GEMM_L2_PREFETCH
#define GEMM_L2_PREFETCH 128  // bytes cp.async asks L2 to fetch: 0, 64, 128, 256
#endif
#ifndef GEMM_DOUBLE_BUFFER
#define GEMM_DOUBLE_BUFFER 1
#endif
#ifndef GEMM_RASTERIZATION
#define GEMM_RASTERIZATION 2  // 0 row, 1 column, 2 grouped along M, 3 grouped along N, 4 zig-zag
#endif
#ifndef GEMM_GROUP
#define GEMM_GROUP 8
#endif
#ifndef GEMM_EPILOGUE_SHARED
#define GEMM_EPILOGUE_SHARED 1
#endif
#ifndef GEMM_SPLIT_K
#define GEMM_SPLIT_K 1
#endif
#ifndef GEMM_SPLIT_CLUSTER
#define GEMM_SPLIT_CLUSTER 0  // the splits of a tile are a cluster
#endif
#ifndef GEMM_PACK_A
#define GEMM_PACK_A 0
#endif
#ifndef GEMM_PACK_B
#define GEMM_PACK_B 0
#endif
#ifndef GEMM_TRANSPOSE_REALIGN
#define GEMM_TRANSPOSE_REALIGN 0  // an operand that is transposed is not aligned to words
#endif
#ifndef GEMM_PERSISTENT
#define GEMM_PERSISTENT 1  // blocks stay and take tile after tile
#endif
#ifndef GEMM_STREAM_K
#define GEMM_STREAM_K 0  // tiles are cut along K where they don't come out even
#endif
#ifndef GEMM_OVERLAPPED
#define GEMM_OVERLAPPED 0  // half of a tile is stored while the other half multiplies
#endif
#ifndef GEMM_DEPENDENT_LAUNCH
#define GEMM_DEPENDENT_LAUNCH 0
#endif
#ifndef GEMM_TYPE_AB
#define GEMM_TYPE_AB 1  // 0 f16, 1 bf16, 2 f32, 3 none, 4 e4m3, 5 e5m2, 6 s8, 7 s32
#endif
#ifndef GEMM_ELEMENT_BYTES
#define GEMM_ELEMENT_BYTES (2 - (GEMM_TYPE_AB >= 4))  // of A and B, where they are not f32
#endif
#ifndef GEMM_LOAD_WORDS
#define GEMM_LOAD_WORDS 0  // fragments are loaded word by word: f32 where K is not contiguous
#endif
#ifndef GEMM_PROMOTED
#define GEMM_PROMOTED 0  // tensor cores begin sums anew, and CUDA cores add them up
#endif
#ifndef GEMM_MIXED_INPUTS
#define GEMM_MIXED_INPUTS 0  // A and B have different types
#endif
#ifndef GEMM_TYPE_C
#define GEMM_TYPE_C 3
#endif
#ifndef GEMM_TYPE_D
#define GEMM_TYPE_D 1
#endif
#ifndef GEMM_ACCUMULATOR_F16
#define GEMM_ACCUMULATOR_F16 0
#endif
#ifndef GEMM_ACCUMULATOR_S32
#define GEMM_ACCUMULATOR_S32 0
#endif
#ifndef GEMM_EXACT_SUMS
#define GEMM_EXACT_SUMS 0  // D of 32-bit integers holds the sums as they are
#endif
#ifndef GEMM_A_K_MAJOR
#define GEMM_A_K_MAJOR 1
#endif
#ifndef GEMM_B_K_MAJOR
#define GEMM_B_K_MAJOR 1
#endif
#ifndef GEMM_ALIGN_A
#define GEMM_ALIGN_A 16  // of what the main kernel copies: 16 for a packed operand
#endif
#ifndef GEMM_ALIGN_B
#define GEMM_ALIGN_B 16
#endif
#ifndef GEMM_COPY_ASYNC
#define GEMM_COPY_ASYNC 1  // some operand is copied by cp.async
#endif
#ifndef GEMM_COPY_REALIGN
#define GEMM_COPY_REALIGN 0  // some operand is aligned to one element and shifted into place
#endif
#ifndef GEMM_PASS_RESIDUE
#define GEMM_PASS_RESIDUE 1  // the last pass of some copy reaches beyond its tile
#endif
#ifndef GEMM_VECTOR_D
#define GEMM_VECTOR_D 8
#endif
// Of the families on FP32 cores.
#ifndef GEMM_TILE_M
#define GEMM_TILE_M 8
#endif
#ifndef GEMM_TILE_N
#define GEMM_TILE_N 8
#endif
#ifndef GEMM_ALONG_N
#define GEMM_ALONG_N 1
#endif
#ifndef GEMM_THREAD_M
#define GEMM_THREAD_M 8
#endif
#ifndef GEMM_THREAD_N
#define GEMM_THREAD_N 8
#endif
#ifndef GEMM_COPY_SLICES
#define GEMM_COPY_SLICES 1
#endif
#ifndef GEMM_PREDICATED
#define GEMM_PREDICATED 1  // 0: the problem is whole block tiles
#endif
#ifndef GEMM_UPDATE_ORDER
#define GEMM_UPDATE_ORDER 0  // where a thread's first row of sums starts: 0 left, 1 right, 2 with the even columns
#endif
#ifndef GEMM_K_LANES
#define GEMM_K_LANES 4
#endif
#ifndef GEMM_MIN_BLOCKS_PER_SM
#define GEMM_MIN_BLOCKS_PER_SM 1
#endif
#ifndef GEMM_VECTOR_A
#define GEMM_VECTOR_A 4
#endif
#ifndef GEMM_VECTOR_B
#define GEMM_VECTOR_B 4
#endif
#ifndef GEMM_WARP_LANES_M
#define GEMM_WARP_LANES_M 4
#endif
#ifndef GEMM_WARP_LANES_N
#define GEMM_WARP_LANES_N 8
#endif
#ifndef GEMM_WARP_LANES_K
#define GEMM_WARP_LANES_K 1
#endif
#ifndef GEMM_WARPS
#define GEMM_WARPS 8
#endif
#ifndef GEMM_REDUCE_WARPS
#define GEMM_REDUCE_WARPS 32
#endif
#ifndef GEMM_WAVE
#define GEMM_WAVE 0
#endif
// What follows from the values above, where it is not given.
#ifndef GEMM_THREADS_M
#define GEMM_THREADS_M (GEMM_BLOCK_M / GEMM_TILE_M)
#endif
#ifndef GEMM_THREADS_N
#define GEMM_THREADS_N (GEMM_BLOCK_N / GEMM_TILE_N)
#endif
#ifndef GEMM_ROW_PADDING
#define GEMM_ROW_PADDING (16 * !GEMM_SWIZZLE)
#endif
#ifndef GEMM_COPY_TRANSPOSED
#define GEMM_COPY_TRANSPOSED (GEMM_A_K_MAJOR || GEMM_B_K_MAJOR)
#endif
#ifndef GEMM_COPY_STRAIGHT
#define GEMM_COPY_STRAIGHT (!GEMM_A_K_MAJOR || !GEMM_B_K_MAJOR)
#endif
#ifndef GEMM_HAS_C
#define GEMM_HAS_C (GEMM_TYPE_C != 3)
#endif
#ifndef GEMM_EPILOGUE
#define GEMM_EPILOGUE 0  // what is stored is made of a text
#endif
#ifndef GEMM_PAIRS
#define GEMM_PAIRS 0  // an element of D is made of two sums of its row
#endif
#ifndef GEMM_PAIRED_HALVES
#define GEMM_PAIRED_HALVES GEMM_PAIRS  // of columns half of B apart; else of neighbours
#endif
#ifndef GEMM_PARTIAL_SUMS
#define GEMM_PARTIAL_SUMS (GEMM_SPLIT_K > 1 && !GEMM_SPLIT_CLUSTER)
#endif
#ifndef GEMM_TILE_PANELS
#define GEMM_TILE_PANELS 0  // a tile operand comes as A and B do, through the ring of stages
#endif
#ifndef GEMM_BROADCAST_C
#define GEMM_BROADCAST_C 0  // C is one row
#endif
#ifndef GEMM_CONVERT_C
#define GEMM_CONVERT_C GEMM_HAS_C  // elements of C are read one by one
#endif
#ifndef GEMM_READ_C
#define GEMM_READ_C (GEMM_HAS_C && !GEMM_PARTIAL_SUMS)
#endif
#ifndef GEMM_WORKSPACE
#define GEMM_WORKSPACE (GEMM_PARTIAL_SUMS || GEMM_WAVE || GEMM_STREAM_K || GEMM_PACK_A || GEMM_PACK_B)
#endif
#ifndef GEMM_STORE_F32
#define GEMM_STORE_F32 (GEMM_TYPE_D == 2 || GEMM_PARTIAL_SUMS)
#endif
#ifndef GEMM_ROUND_SUMS
#define GEMM_ROUND_SUMS (GEMM_TYPE_D >= 4 && !GEMM_TENSOR_MAPS)  // they are staged, and then become 8 bits or integers
#endif
#ifndef GEMM_STAGED_SUMS
// The epilogue lays sums into shared memory, not yet what it stores.
#define GEMM_STAGED_SUMS (GEMM_READ_C || ((GEMM_EPILOGUE || GEMM_ROUND_SUMS) && !GEMM_PARTIAL_SUMS))
#endif
#ifndef GEMM_STAGED_INTEGERS
// They are s32, and stay so until all of them are added up.
#define GEMM_STAGED_INTEGERS (GEMM_EXACT_SUMS || (GEMM_PARTIAL_SUMS && GEMM_ACCUMULATOR_S32))
#endif
#ifndef GEMM_STAGED_F32
#define GEMM_STAGED_F32 (GEMM_STAGED_SUMS || GEMM_STORE_F32)
#endif
#ifndef GEMM_VECTOR_RESIDUE
#define GEMM_VECTOR_RESIDUE (GEMM_MMA_M * GEMM_WARP_N / GEMM_VECTOR_D % 32 != 0)
#endif

constexpr int kBlockM = GEMM_BLOCK_M;
constexpr int kBlockN = GEMM_BLOCK_N;
constexpr int kBlockK = GEMM_BLOCK_K;
constexpr int kWarpM = GEMM_WARP_M;
constexpr int kWarpN = GEMM_WARP_N;
constexpr int kMmaM = GEMM_MMA_M;
constexpr int kMmaN = GEMM_MMA_N;
constexpr int kMmaK = GEMM_MMA_K;
constexpr int kStages = GEMM_STAGES;
constexpr int kRowPadding = GEMM_ROW_PADDING;

constexpr int kLdmatrixA = GEMM_LDMATRIX_A;
constexpr int kLdmatrixB = GEMM_LDMATRIX_B;
constexpr int kGroup = GEMM_GROUP;
constexpr int kSplitK = GEMM_SPLIT_K;
constexpr int kAlignA = GEMM_ALIGN_A;
constexpr int kAlignB = GEMM_ALIGN_B;
constexpr int kVectorD = GEMM_VECTOR_D;

constexpr int kTileM = GEMM_TILE_M;
constexpr int kTileN = GEMM_TILE_N;
constexpr int kThreadsM = GEMM_THREADS_M;
constexpr int kThreadsN = GEMM_THREADS_N;

constexpr int kThreadM = GEMM_THREAD_M;
constexpr int kThreadN = GEMM_THREAD_N;
constexpr int kCopySlices = GEMM_COPY_SLICES;
constexpr int kKLanes = GEMM_K_LANES;
constexpr int kVectorA = GEMM_VECTOR_A;
constexpr int kVectorB = GEMM_VECTOR_B;
constexpr int kMinBlocksPerSm = GEMM_MIN_BLOCKS_PER_SM;

constexpr int kWarpLanesM = GEMM_WARP_LANES_M;
constexpr int kWarpLanesN = GEMM_WARP_LANES_N;
constexpr int kWarpLanesK = GEMM_WARP_LANES_K;
constexpr int kWarps = GEMM_WARPS;
constexpr int kReduceWarps = GEMM_REDUCE_WARPS;

constexpr unsigned kWave = GEMM_WAVE;
constexpr int kReduceThreads = 64;
constexpr int kPackThreads = 256;

using Bits = unsigned short;
using Byte = unsigned char;
#if GEMM_TYPE_AB == 2
using Element = float;
#else
using Element = Bits;
#endif
#if GEMM_ACCUMULATOR_F16
using Accumulator = unsigned;
#elif GEMM_ACCUMULATOR_S32
using Accumulator = int;
#else
using Accumulator = float;
#endif
#if GEMM_TYPE_C == 2
using ElementC = float;
#elif GEMM_TYPE_C < 2
using ElementC = Bits;
#endif
#if GEMM_TYPE_D == 2
using ElementD = float;
#elif GEMM_TYPE_D == 7
using ElementD = int;
#elif GEMM_TYPE_D >= 4
using ElementD = unsigned char;
#else
using ElementD = Bits;
#endif
#if GEMM_PARTIAL_SUMS
using ElementOut = float;
#else
using ElementOut = ElementD;
#endif
#if GEMM_STAGED_INTEGERS
using Staged = int;
#elif GEMM_STAGED_F32
using Staged = float;
#elif GEMM_TYPE_D >= 4
using Staged = ElementD;
#else
using Staged = Bits;
#endif
#include "statements.cuh"
