#pragma once
// Each consumer multiplies its part of every tile, 128 rows, and stores the upper 64 of them while the tensor cores are at the last
// k-tile of the lower ones, and the lower ones while they are at the first k-tile of the next tile.
struct Consumer {
    const GemmArgs& args;
    const SharedMemory& shared;
    TileWalk walk;
    unsigned long long a, b;  // matrix descriptors, see multiply
#if GEMM_STORE_TMA
    Staging staging;
#endif
#if GEMM_STREAM_K
    Piece last;  // multiplied, or almost
    int warp;  // of those of the tile
#endif
    int lane;
    int first_row, first_column;  // of this warp's in the block tile
    int row, column;  // of the last tile in D
    int read;  // the stage that wgmmas in flight read
    RingPosition ring;

    __device__ __forceinline__ Consumer(const GemmArgs& args, const SharedMemory& shared, int warpgroup)
        : args(args), shared(shared), walk(args), lane(threadIdx.x % 32) {
        first_row = warpgroup / kConsumersN * kWarpgroupM;
        first_column = warpgroup % kConsumersN * kWarpgroupN;
        a = OperandA::kDescriptor | (descriptor_address(shared.stage_a(0)) + OperandA::offset(first_row, 0));
        b = OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(first_column, 0));
        first_row += threadIdx.x / 32 % 4 * 16;
#if GEMM_STREAM_K
        warp = threadIdx.x / 32;
#endif
#if GEMM_STORE_TMA
        staging = Staging(shared.staging);
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
#if GEMM_STORE_TMA
        store_rows(rC[kHalf], args, row + kHalf * 64, column, staging, lane);
#else
        store_rows(rC[kHalf], args, row + kHalf * 64, column, lane);
#endif
    }

    // When its first wgmmas of the next tile are in flight, or there are none.
    template <int kInFlight>
    __device__ __forceinline__ void finish_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        wgmma_wait<kInFlight>();
        release(shared, read, lane);
        store_half<1>(rC);
    }

    // After the last tile.
#if GEMM_STORE_TMA
    __device__ __forceinline__ void finish(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        finish_tile<0>(rC);
        if (lane == 0) tma_store_wait_read<0>();  // before the block's shared memory goes
    }
#else
    __device__ __forceinline__ void finish(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) { finish_tile<0>(rC); }
#endif

    // A tile of two k-tiles or more. Its lower half stays in rC. kIsFirst: no tile came before it, to be finished.
    template <bool kIsFirst>
    __device__ __forceinline__ void multiply_tile(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC]) {
        wait_for_k_tile(shared, ring);
        multiply<true, 0, 1>(rC, a, b, ring);
        if constexpr (!kIsFirst) finish_tile<1>(rC);
        multiply<true, 1, 2>(rC, a, b, ring);
        read = ring.stage;
        ring.advance();
        const TileOrigin origin = walk.origin();
        row = origin.row + first_row;
        column = origin.column + first_column;
#if GEMM_STREAM_K
        last = walk.piece;
#endif
#pragma unroll 1
        for (int k_tile = 1; k_tile < walk.k_tiles - 1; ++k_tile) {
            wait_for_k_tile(shared, ring);
            multiply<false>(rC, a, b, ring);
            wgmma_wait<1>();  // for those of the k-tile before
            release(shared, read, lane);
            read = ring.stage;
            ring.advance();
        }
        wait_for_k_tile(shared, ring);
        multiply<false, 0, 1>(rC, a, b, ring);
        multiply<false, 1, 2>(rC, a, b, ring);
        wgmma_wait<1>();  // for all but those of the lower half
        release(shared, read, lane);
        store_half<0>(rC);
        read = ring.stage;
        ring.advance();
        walk.next();
    }
};

__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    Consumer consumer(args, shared, warpgroup);
    const TileWalk& walk = consumer.walk;
#if GEMM_STREAM_K
    if (!walk.has_tile()) return;
#endif
    Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
#if GEMM_STREAM_K
    consumer.multiply_tile<true>(rC);
#else
    consumer.multiply_tile<true>(rC);  // there are no more blocks than tiles
#endif
    // The loop finishes its own last tile: with one way out for both, ptxas would serialise all wgmmas (C7514).
#pragma unroll 1
    while (walk.has_tile()) {
        consumer.multiply_tile<false>(rC);
        if (!walk.has_tile()) {
            consumer.finish(rC);
            return;
        }
    }
    consumer.finish(rC);
}
