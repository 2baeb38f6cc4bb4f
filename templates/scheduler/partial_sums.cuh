#pragma once
#include "scheduler/stream_k_walk.cuh"

// A piece that doesn't end its tile leaves its sums in the workspace, for the cluster that has the end of the tile. A
// block leaves at most one piece: (kTilesM, kTilesN) fragments of each warp, and for each of the kTilesM a counter that
// says they are there.
struct alignas(4 * kRegistersC) Fragment {
    Accumulator sums[kRegistersC];
};

// The place of fragments (`rows`, 0 to kTilesN) of a warp, for the piece that `block` leaves.
__device__ __forceinline__ Fragment* partial_fragments(const GemmArgs& args, unsigned block, int warp, int rows,
                                                       int lane) {
    const unsigned long long first = (block * kWarpsPerTile + warp) * kTilesM + rows;
    return reinterpret_cast<Fragment*>(sums_of_pieces(args)) + first * kTilesN * 32 + lane;
}
__device__ __forceinline__ unsigned* partial_counter(const GemmArgs& args, unsigned block, int warp, int rows) {
    return args.counters + (block * kWarpsPerTile + warp) * kTilesM + rows;
}

__device__ __forceinline__ void leave_sums(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args,
                                           int warp, int rows, int lane) {
    Fragment* const fragments = partial_fragments(args, blockIdx.x, warp, rows, lane);
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) {
        Fragment fragment;
#pragma unroll
        for (int r = 0; r < kRegistersC; ++r) fragment.sums[r] = rC[j][r];
        fragments[j * 32] = fragment;
    }
    __syncwarp();
    if (lane == 0)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(partial_counter(args, blockIdx.x, warp, rows))
                     : "memory");
}

// Waits for the sums of a counter, and sets it back to zero for the next launch.
__device__ __forceinline__ void take_counter(unsigned* counter, int lane) {
    if (lane == 0) {
        unsigned there;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(counter) : "memory");
        } while (there == 0);
        *counter = 0;
    }
    __syncwarp();
}

GEMM_ADD_TO_SUM();

// Adds the sums that earlier clusters left of the tile that `piece` ends. The order of the additions never changes.
__device__ __forceinline__ void add_sums(Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args,
                                         const TileWalk& walk, const Piece& piece, int warp, int rows, int lane) {
    const int tile_begin = piece.tile * walk.tile_k_tiles;
    unsigned cluster = walk.cluster;
    for (int from = walk.share_begin(cluster); from > tile_begin;) {
        const int to = from;
        from = walk.share_begin(--cluster);
        if (from == to) continue;  // its share was empty
        GEMM_BLOCK_OF_CLUSTER();
        take_counter(partial_counter(args, block, warp, rows), lane);
        const Fragment* const fragments = partial_fragments(args, block, warp, rows, lane);
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            const Fragment fragment = fragments[j * 32];
#pragma unroll
            for (int r = 0; r < kRegistersC; ++r) rC[j][r] = add(rC[j][r], fragment.sums[r]);
        }
    }
}
#if !GEMM_OVERLAPPED

// The same for all rows of a warp.
__device__ __forceinline__ void leave_partial_sums(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                                   const GemmArgs& args, int warp, int lane) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) leave_sums(rC[i], args, warp, i, lane);
}
__device__ __forceinline__ void add_partial_sums(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const GemmArgs& args,
                                                 const TileWalk& walk, int warp, int lane) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) add_sums(rC[i], args, walk, walk.piece, warp, i, lane);
}
#endif
