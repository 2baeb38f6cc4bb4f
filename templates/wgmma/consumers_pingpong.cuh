#pragma once
#include "mainloop.cuh"

// The two consumers multiply in turn: one stores its tile while the other multiplies. Each has a named barrier
// (bar.sync). It waits there before its k-tiles, and the other arrives when it has issued its own. Without turns, the
// consumers could wait for phases of the ring that are two rounds apart. Parity can't tell these.
struct Turn {
    int warpgroup;

    static constexpr int kThreadsOfBoth = 256;
    static constexpr int kFirstBarrier = 1;  // barrier 0 is __syncthreads

    __device__ __forceinline__ void wait() const {
        asm volatile("bar.sync %0, %1;" ::"r"(kFirstBarrier + warpgroup), "n"(kThreadsOfBoth) : "memory");
    }
    __device__ __forceinline__ void pass_on() const {
        asm volatile("bar.arrive %0, %1;" ::"r"(kFirstBarrier + 1 - warpgroup), "n"(kThreadsOfBoth) : "memory");
    }
};

// Each consumer takes every second tile.
__device__ __forceinline__ void multiply_tiles(const GemmArgs& args, const SharedMemory& shared, int warpgroup) {
    TileWalk walk(args, shared);
    const int warp = threadIdx.x / 32 % 4;
    const int lane = threadIdx.x % 32;
    const PlaceA a = place_a(shared, 0);
    const unsigned long long b = OperandB::kDescriptor | descriptor_address(shared.stage_b(0));
    Staging staging(shared.staging);
    const Turn turn{warpgroup};
    RingPosition ring;
    const auto skip_tile = [&] {  // the other consumer has it
        GEMM_SKIP_STAGES_OF_TILE();
        walk.next();
    };
    if (warpgroup == 1) {
        turn.pass_on();  // the other consumer begins
        skip_tile();
    }
#pragma unroll 1
    for (; walk.has_tile(); walk.next(), skip_tile()) {
        turn.wait();
        Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
        GEMM_MULTIPLY_IN_TURN();
        GEMM_AWAIT_PANELS();
        turn.pass_on();
        GEMM_PREPARE_STORE();
        GEMM_AWAIT_SUMS();

        GEMM_MEET_PIECES_IN_TURN();
        const int row = tile.row + warp * 16;
        const int column = tile.column;
        GEMM_STORE_SUMS();
    }
    GEMM_END_STORES();
}
