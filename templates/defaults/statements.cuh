#pragma once
// Statements that a rendering writes. A template has a place for each: a line GEMM_NAME();. These are the statements of
// the default kernels. Those of wgmma hold for the default macros alone. Comments have no default.

// ---- every family
#if GEMM_DEPENDENT_LAUNCH
#define GEMM_LAUNCH_ORDER()   \
    launch_dependent_grids(); \
    wait_on_dependent_grids()
#else
#define GEMM_LAUNCH_ORDER()
#endif

#if GEMM_TENSOR_MAPS
#define GEMM_KERNEL() \
    extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ GemmArgs args)
#elif GEMM_SPLIT_CLUSTER
#define GEMM_KERNEL() \
    extern "C" __global__ void __launch_bounds__(kThreads, 1) __cluster_dims__(kSplitK) gemm(GemmArgs args)
#else
#define GEMM_KERNEL() extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(GemmArgs args)
#endif

// ---- gemm_pack
#define GEMM_PACKING_KERNEL() extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_pack(const GemmArgs args)
#define GEMM_PACKING_A() \
    const Packing a { args.a, args.lda, packed_rows_a(args), packed_columns_a(args), packed_a(args) }
#define GEMM_PACKING_B() \
    const Packing b { args.b, args.ldb, packed_rows_b(args), packed_columns_b(args), packed_b(args) }
#if GEMM_PACK_A && GEMM_PACK_B
#define GEMM_PACKINGS()                     \
    GEMM_PACKING_A();                       \
    GEMM_PACKING_B();                       \
    const unsigned vectors_a = a.vectors(); \
    const unsigned vectors = vectors_a + b.vectors()
#define GEMM_MOVE_VECTOR() v < vectors_a ? a.move(v) : b.move(v - vectors_a)
#elif GEMM_PACK_A
#define GEMM_PACKINGS() \
    GEMM_PACKING_A();   \
    const unsigned vectors = a.vectors()
#define GEMM_MOVE_VECTOR() a.move(v)
#else
#define GEMM_PACKINGS() \
    GEMM_PACKING_B();   \
    const unsigned vectors = b.vectors()
#define GEMM_MOVE_VECTOR() b.move(v)
#endif

// ---- mma_multistage and wmma_multistage
#if GEMM_COPY_ASYNC
#define GEMM_COMMIT_COPIES() cp_async_commit()
#define GEMM_WAIT_FOR_OLDEST_COPY() cp_async_wait<kStages - 2>()
#define GEMM_WAIT_FOR_ALL_COPIES() cp_async_wait<0>()
#else
#define GEMM_COMMIT_COPIES()
#define GEMM_WAIT_FOR_OLDEST_COPY()
#define GEMM_WAIT_FOR_ALL_COPIES()
#endif

#if GEMM_PACK_A
#define GEMM_START_COPY_A() \
    CopyA copy_a(packed_a(args), packed_pitch(packed_columns_a(args)), tile.row, tile.end_row, tile.first_k, tile.end_k)
#else
#define GEMM_START_COPY_A() CopyA copy_a(args.a, args.lda, tile.row, tile.end_row, tile.first_k, tile.end_k)
#endif
#if GEMM_PACK_B
#define GEMM_START_COPY_B()                                                                                        \
    CopyB copy_b(packed_b(args), packed_pitch(packed_columns_b(args)), tile.column, tile.end_column, tile.first_k, \
                 tile.end_k)
#else
#define GEMM_START_COPY_B() CopyB copy_b(args.b, args.ldb, tile.column, tile.end_column, tile.first_k, tile.end_k)
#endif
#define GEMM_START_COPIES() \
    GEMM_START_COPY_A();    \
    GEMM_START_COPY_B()

// ---- mma_multistage
#define GEMM_DECLARE_PARTIAL_SUMS()
#define GEMM_ROUND_FIRST_FRAGMENTS()
#define GEMM_MULTIPLY_K_BLOCK() mma_warp_tile(rC, rA[k_block % 2], rB[k_block % 2])
#define GEMM_ROUND_NEXT_FRAGMENTS()
#if GEMM_SPLIT_CLUSTER
#define GEMM_STORE_TILE()                                         \
    lay_out_sums(rC, shared_memory, warp_row, warp_column, lane); \
    add_up_and_store(args, shared_address(shared_memory), tile_row, tile_column, split)
#elif GEMM_PARTIAL_SUMS
#define GEMM_STORE_TILE()                                \
    const OutputTile output = partial_tile(args, split); \
    epilogue(rC, output, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane)
#else
#define GEMM_STORE_TILE() epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane)
#endif
#if GEMM_A_K_MAJOR
#define GEMM_PLACE_IN_A()                                  \
    const int row = warp_row + a_matrix_row(q) + lane % 8; \
    const int chunk = a_matrix_k(q) / kChunkElements
#define GEMM_STEP_IN_A()                                                  \
    const int chunk = (k_block * kMmaK + a_matrix_k(q)) / kChunkElements; \
    const int row = a_matrix_row(q)
#else
#define GEMM_PLACE_IN_A()                     \
    const int row = a_matrix_k(q) + lane % 8; \
    const int chunk = (warp_row + a_matrix_row(q)) / kChunkElements
#define GEMM_STEP_IN_A()                                \
    const int chunk = a_matrix_row(q) / kChunkElements; \
    const int row = k_block * kMmaK + a_matrix_k(q)
#endif
#if GEMM_B_K_MAJOR
#define GEMM_PLACE_IN_B()                                        \
    const int row = warp_column + b_matrix_column(q) + lane % 8; \
    const int chunk = b_matrix_k(q) / kChunkElements
#define GEMM_STEP_IN_B()                                                  \
    const int chunk = (k_block * kMmaK + b_matrix_k(q)) / kChunkElements; \
    const int row = b_matrix_column(q)
#else
#define GEMM_PLACE_IN_B()                     \
    const int row = b_matrix_k(q) + lane % 8; \
    const int chunk = (warp_column + b_matrix_column(q)) / kChunkElements
#define GEMM_STEP_IN_B()                                   \
    const int chunk = b_matrix_column(q) / kChunkElements; \
    const int row = k_block * kMmaK + b_matrix_k(q)
#endif

// ---- simt_long_k
#if GEMM_A_K_MAJOR
#define GEMM_FROM_A() const float* from_a = sA + read_stage * kStageA + place.m * kPitchA + place.k
#else
#define GEMM_FROM_A() const float* from_a = sA + read_stage * kStageA + place.k * kPitchA + place.m * kPieceA
#endif
#if GEMM_B_K_MAJOR
#define GEMM_FROM_B() const float* from_b = sB + read_stage * kStageB + place.n * kPitchB + place.k
#else
#define GEMM_FROM_B() const float* from_b = sB + read_stage * kStageB + place.k * kPitchB + place.n * kPieceB
#endif
#define GEMM_FIRST_ELEMENTS() \
    GEMM_FROM_A();            \
    GEMM_FROM_B()

// ---- wgmma: the kernel
#define GEMM_BLOCKS_BEGIN() \
    __syncthreads();        \
    GEMM_LAUNCH_ORDER()
#define GEMM_PRODUCER_BEGINS() give_up_registers<kProducerRegisters>()
#define GEMM_CONSUMERS_BEGIN() take_registers<kConsumerRegisters>()
#define GEMM_BLOCKS_END()

// ---- wgmma: the producer
#define GEMM_CLEAR_RING() \
    if (walk.no_products) shared.clear_ring()
#define GEMM_CLEAR_STAGE()
#define GEMM_ANNOUNCE_K_TILE() announce_k_tile(shared, ring, walk.no_products ? 0 : kStageBytes)
#define GEMM_ANNOUNCE_PREFETCHED() mbarrier_arrive_expect(shared.full_barrier(prefetched), kStageBytes)
#define GEMM_COPY_SCALES()
#define GEMM_SCALES_BEGIN()
#define GEMM_SCALES_OF_TILE()
#define GEMM_COPY_PARTS() \
    copy_parts<kBlockM, 1, 1, true>(target, args.sa, args.ld_sa, tile.row, tile.end_row, k_block, bytes)
#define GEMM_COPY_TILE_OPERANDS()
#define GEMM_SKIP_PANELS()
#define GEMM_PASS_PANELS()

// ---- wgmma: consumers
#define GEMM_PREPARE_STORE()
#define GEMM_SCALE_TYPES()                     \
    using RowScales = ScalesOfLines<4, false>; \
    using ColumnScales = ScalesOfBlocks<128, true>
#define GEMM_SCALE_PLACES() \
    RowScales row_scales;   \
    ColumnScales column_scales
#define GEMM_FIND_SCALES()                                    \
    place.row_scales.address = shared.scales_of(0) + row * 4; \
    place.column_scales = {shared.scales_of(0) + kRowScaleBytes, 0, 0}
#define GEMM_BEGIN_SCALES()             \
    a.k_block = tile.first_k / kBlockK; \
    a.column_scales.begin_tile(tile.column, tile.end_column)
#define GEMM_SCALES_OF_WAVE() float row_scale, column_scale
#define GEMM_READ_SCALES()                                            \
    partial.row_scale = a.row_scales.at(wave, ring.stage, a.k_block); \
    partial.column_scale = a.column_scales.at(0, ring.stage, a.k_block)
#define GEMM_SCALE_OF_SUM() const float scale = partial.row_scale * partial.column_scale
#if GEMM_READ_C && !GEMM_SLICE_OF_SUMS
#define GEMM_OPERANDS_OF_TILE() \
    TileOperands { tile, row, column }
#else
#define GEMM_OPERANDS_OF_TILE() \
    TileOperands {}
#endif
#define GEMM_STORE_SUMS()                                 \
    const int row = tile.row + warpgroup_row + warp * 16; \
    const int column = tile.column + warpgroup_column;    \
    epilogue(rC, args, tile, row, column, staging, GEMM_OPERANDS_OF_TILE(), lane)
#define GEMM_END_STORES() \
    if (threadIdx.x % 32 == 0) tma_store_wait_read<0>()

// ---- wgmma: the kernel and its shared memory
#define GEMM_HELP_PRODUCER()
#define GEMM_COPY_SCALES_BY_WARP()
#define GEMM_WARPS_THAT_GATHER()
#define GEMM_SIZE_OF_RING()
#define GEMM_MORE_ADDRESSES()
#define GEMM_PLACE_STAGING() staging = ring + kStages * kStageBytes
#define GEMM_PLACE_TABLES()
#define GEMM_SCALES_OF_STAGE()
#define GEMM_LANDED_BARRIER()
#define GEMM_CLEAR_STAGES()                                           \
    for (unsigned byte = 0; byte < kStages * kStageBytes; byte += 16) \
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(ring + byte), "r"(0) : "memory")
#define GEMM_INIT_FULL_BARRIER() mbarrier_init(full_barrier(stage), 1)
#define GEMM_INIT_LANDED_BARRIER()
#define GEMM_HOW_TO_RELEASE()                                                                  \
    __device__ __forceinline__ void release(const SharedMemory& shared, int stage, int lane) { \
        if (lane == 0) mbarrier_arrive(shared.empty_barrier(stage));                           \
    }
#define GEMM_WAIT_FOR_PREVIOUS_K_TILE() wgmma_wait<1>()
#define GEMM_HOW_TO_ANNOUNCE()                                                                                         \
    __device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const RingPosition& ring, int bytes) { \
        mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);                                               \
        mbarrier_arrive_expect(shared.full_barrier(ring.stage), bytes);                                                \
    }
#define GEMM_COUNT_PANELS() static constexpr int kPanels = kBlockK / kPanelElements
#define GEMM_FIND_GROUP_OF_K()

// ---- wgmma: consumers and the producer, where they differ from kernel to kernel
#define GEMM_DESCRIPTOR_OF_B()   \
    const unsigned long long b = \
        OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(warpgroup_column, 0))
#define GEMM_MULTIPLY_TILE()                                                        \
    const auto [tile, read] = multiply_k_tiles(rC, shared, walk, a, b, ring, lane); \
    GEMM_PREPARE_STORE();                                                           \
    wgmma_wait_for(rC);                                                             \
    release(shared, read, lane)
#define GEMM_MEET_PIECES()
#define GEMM_SHARE_OF_A()                                                                                      \
    __device__ __forceinline__ void copy_a(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, \
                                           int k_tile, int stage) {                                            \
        const int k = tile.first_k + k_tile * kBlockK;                                                         \
        const unsigned short row_of_blocks = kRowOfBlocks << tile.cluster_row;                                 \
        OperandA::load(shared.stage_a(stage), args.map_a, tile.row, k, shared.full_barrier(stage),             \
                       tile.cluster_column, row_of_blocks);                                                    \
    }
#define GEMM_COPY_OF_A()                                                                                       \
    __device__ __forceinline__ void copy_a(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, \
                                           int k_tile, int stage) {                                            \
        const int k = tile.first_k + k_tile * kBlockK;                                                         \
        OperandA::load(shared.stage_a(stage), args.map_a, tile.row, k, shared.full_barrier(stage));            \
    }
#define GEMM_BEGIN_PREFETCH()
#define GEMM_FIND_K_TILE()
#define GEMM_COPY_K_TILE() \
    GEMM_COPY_A();         \
    copy_b(args, shared, tile, k_tile, stage)
#define GEMM_COPY_A() copy_a(args, shared, tile, k_tile, stage)
#define GEMM_FETCH_NEXT_PANELS()
#define GEMM_COPY_TILES() \
    for (; walk.has_tile(); walk.next()) copy_tile(args, shared, walk, ring)

// ---- wgmma: the order of tiles
#define GEMM_TILES_OF_CLUSTERS() TileCoord tiles
#define GEMM_COUNT_TILES_OF_CLUSTERS()                                        \
    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)      \
        : rows(args.m),                                                       \
          columns(args.n),                                                    \
          no_products(args.k == 0),                                           \
          tiles{(args.m + kClusterM * kBlockM - 1u) / (kClusterM * kBlockM),  \
                (args.n + kClusterN * kBlockN - 1u) / (kClusterN * kBlockN)}, \
          cluster(blockIdx.x / kCluster),                                     \
          cluster_row(blockIdx.x % kClusterM),                                \
          cluster_column(blockIdx.x % kCluster / kClusterM) {}
#define GEMM_TAKE_PROBLEM()
#define GEMM_FIND_TILE() const TileCoord at = tile_of_block(index, tiles)
#define GEMM_TILE_IN_CLUSTER() \
    return { {rows, columns}, row, column, first_k, k_tiles, cluster_row, cluster_column }
#define GEMM_TILES_OF_BLOCKS() TileCoord tiles
#define GEMM_COUNT_TILES_OF_BLOCKS()                                                   \
    __device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)               \
        : rows(args.m),                                                                \
          columns(args.n),                                                             \
          no_products(args.k == 0),                                                    \
          tiles{(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN}, \
          cluster(blockIdx.x) {}
#define GEMM_TILE_OF_BLOCK() \
    return { {rows, columns}, row, column, first_k, k_tiles }
#define GEMM_K_TILES() int k_tiles
#define GEMM_COUNT_PROBLEMS()
#define GEMM_COUNT_K_TILES() k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK))
#define GEMM_ENDS_TILE()
#define GEMM_NAME_SUMS() \
    for (int r = 0; r < kRegistersC; ++r) asm volatile("" : "+f"(rC[i][j][r])::"memory")

// ---- wgmma: slices
#define GEMM_PAIRS_OF_ATOM() float2 pair[2]
#define GEMM_BEGIN_SLICE_OF_PANELS()
#define GEMM_TAKE_SLICE()                  \
    const unsigned slice = staging.take(); \
    const int slice_column = column + i * kSliceColumns
#define GEMM_REDUCE_BLOCK()
#define GEMM_READ_SLICE()
#define GEMM_AWAIT_SLICE() \
    if (lane == 0) tma_store_wait_read<kSlices - 1>()
#define GEMM_SUMS_OF_SLICE() const auto* const sums = rC + i * kSliceColumns / 8
#define GEMM_FINISH_ATOM() const auto finished = [&](int j) { return operands.finish_atom(args, sums[j], i, j, lane); }
#define GEMM_STORE_REST()
#define GEMM_STORE_PARTS()
#define GEMM_STORE_SLICE_BY_TMA() tma_store(slice, args.map_d, column, row)
#define GEMM_STORE_OUTPUTS()
#define GEMM_STORE_MIRROR()
#define GEMM_STAGE_FLOATS() \
    for (int j = 0; j < kColumns / 8; ++j) stage_floats<kColumns>(slice, finished(j), j, lane)
#define GEMM_STORE_SHARED()                                                               \
    __device__ __forceinline__ void store_shared(unsigned address, unsigned short pair) { \
        asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(pair) : "memory");     \
    }
#define GEMM_STORE_SHARED_PAIR() store_shared(chunk + byte % 16, pack_d(atom.pair[pair].x, atom.pair[pair].y))
#define GEMM_STAGE_MIRROR()
#define GEMM_STAGE_TWO_ATOMS()                                                     \
    stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j + lane / 16), \
             {packed(left.pair[0]), packed(left.pair[1]), packed(right.pair[0]), packed(right.pair[1])})
#define GEMM_BYTES_OF_SLICE() \
    constexpr int kSliceBytes = kStagers / 2 * kSliceColumns * static_cast<int>(sizeof(Staged))
