#pragma once
// Statements that a rendering writes. A template has a place for each: a line GEMM_NAME();. These are the statements of
// the default kernels. GEMM_LOOP_NEST and GEMM_BUILD_LINE are comments, so they have no default.

// ---- every family
#if GEMM_DEPENDENT_LAUNCH
#define GEMM_LAUNCH_ORDER()   \
    launch_dependent_grids(); \
    wait_on_dependent_grids()
#else
#define GEMM_LAUNCH_ORDER()
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
