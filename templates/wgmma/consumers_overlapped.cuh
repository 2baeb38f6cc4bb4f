#pragma once
// Each consumer multiplies its part of every tile, 128 rows, and stores the upper 64 of them while the tensor cores are at the last
// k-tile of the lower ones, and the lower ones while they are at the first k-tile of the next tile.
struct Consumer {
    const GemmArgs& args;
    const SharedMemory& shared;
    TileWalk walk;
#if GEMM_A_IN_REGISTERS
    unsigned a;  // of this lane, see multiply
    unsigned long long b;  // matrix descriptor
#else
    unsigned long long a, b;  // matrix descriptors, see multiply
#endif
#if GEMM_STREAM_K
    Piece last;  // multiplied, or almost
    int warp;  // of those of the tile
#endif
    int lane;
    int first_row, first_column;  // of this warp's in the block tile
    int row, column;  // of the last tile in D
    int read = -1;  // the stage that wgmmas in flight read; none yet
    RingPosition ring;
    Staging staging;

    __device__ __forceinline__ Consumer(const GemmArgs& args, const SharedMemory& shared, int warpgroup)
        : args(args), shared(shared), walk(args), lane(threadIdx.x % 32), staging(shared.staging) {
        first_row = warpgroup / kConsumersN * kWarpgroupM;
        first_column = warpgroup % kConsumersN * kWarpgroupN;
#if !GEMM_A_IN_REGISTERS
        a = OperandA::kDescriptor | (descriptor_address(shared.stage_a(0)) + OperandA::offset(first_row, 0));
#endif
        b = OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(first_column, 0));
        first_row += threadIdx.x / 32 % 4 * 16;
#if GEMM_A_IN_REGISTERS
        a = shared.stage_a(0) + FragmentsA::place(first_row, lane);
#endif
#if GEMM_STREAM_K
        warp = threadIdx.x / 32;
#endif
    }

    // Half of the last tile: 16 rows of each of its warps.
    template <int kHalf>
#if GEMM_STREAM_K
    __device__ __forceinline__ void store_half(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        if (!last.ends_tile) return leave_sums(rC[kHalf], args, warp, kHalf, lane);
        if (last.first_k_tile != 0) add_sums(rC[kHalf], args, walk, last, warp, kHalf, lane);
#else
    __device__ __forceinline__ void store_half(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
#endif
        const Tile tile = walk.tile();  // the one that comes next, maybe: edges are those of D
#if GEMM_C_TMA
        RingPosition of_c = kHalf == 0 ? ring : ring.before(stages_of_c(args));  // which is past both halves' then
        wait_for_c(args, shared, of_c);
        const PartOfC c(args, shared, of_c, threadIdx.x / 128 * kPanelsPerRow, threadIdx.x / 32 % 4 * 16);
        store_rows(rC[kHalf], args, tile, row + kHalf * 64, column, staging, c, lane);
        release_c(args, shared, of_c, lane);
#endif
#if GEMM_BROADCAST_C
        const PartOfC c(args, tile, row + kHalf * 64, column, lane);
        store_rows(rC[kHalf], args, tile, row + kHalf * 64, column, staging, c, lane);
#elif !GEMM_C_TMA
        store_rows(rC[kHalf], args, tile, row + kHalf * 64, column, staging, lane);
#endif
    }

    // The last tile's lower half, whose wgmmas are through.
    __device__ __forceinline__ void finish_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
#if !GEMM_C_TMA
        release(shared, read, lane);
#endif
        store_half<1>(rC);
    }

    // A tile of two k-tiles or more; its lower half stays in rC. Finishes the tile before it, if there is one.
    __device__ __forceinline__ void multiply_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        wait_for_k_tile(shared, ring);
        multiply<true, 0, 1>(rC, a, b, ring);
#if !GEMM_A_IN_REGISTERS
        wgmma_wait<1>();  // for all but these
#endif
        if (read >= 0) finish_tile(rC);
        multiply<true, 1, 2>(rC, a, b, ring);
        read = ring.stage;
        ring.advance();
        const Tile tile = walk.tile();
        row = tile.row + first_row;
        column = tile.column + first_column;
#if GEMM_STREAM_K
        last = walk.piece;
#endif
#pragma unroll 1
        for (int k_tile = 1; k_tile < tile.k_tiles - 1; ++k_tile) {
            wait_for_k_tile(shared, ring);
            multiply<false>(rC, a, b, ring);
#if GEMM_A_IN_REGISTERS
            release(shared, read, lane);  // none from before is in flight
#else
            wgmma_wait<1>();  // for those of the k-tile before
            release(shared, read, lane);
#endif
            read = ring.stage;
            ring.advance();
        }
        wait_for_k_tile(shared, ring);
        multiply<false, 0, 1>(rC, a, b, ring);
        multiply<false, 1, 2>(rC, a, b, ring);
#if GEMM_A_IN_REGISTERS
        release(shared, read, lane);  // none but those of the lower half are in flight
#else
        wgmma_wait<1>();  // for all but those of the lower half
        release(shared, read, lane);
#endif
#if GEMM_C_TMA
        read = ring.stage;
        ring.advance();
        store_half<0>(rC);
        ring.skip(2 * stages_of_c(args, walk));
        wgmma_wait<0>();  // the next k-tile may come into the stage that the lower half's read
        release(shared, read, lane);
#else
        store_half<0>(rC);
        read = ring.stage;
        ring.advance();
#endif
        walk.next();
    }
};

__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    Consumer consumer(args, shared, warpgroup);
    const TileWalk& walk = consumer.walk;
    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
    // What follows is for ptxas, which would else serialise all wgmmas: sums that nothing has set yet may be in flight (C7514), the
    // way out is within the loop (C7514), and what comes behind it waits (C7518).
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
#pragma unroll
        for (int r = 0; r < kRegistersC; ++r) rC[1][j][r] = 0;
#pragma unroll 1
    while (walk.has_tile()) {
        consumer.multiply_tile(rC);
        if (!walk.has_tile()) {
            wgmma_wait<0>();
            consumer.finish_tile(rC);
#if GEMM_STORE_TMA
            if (consumer.lane == 0) tma_store_wait_read<0>();  // before the block's shared memory goes
#endif
            return;
        }
    }
    wgmma_wait<0>();
}
