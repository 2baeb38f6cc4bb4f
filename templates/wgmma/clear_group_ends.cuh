#pragma once
#include "wgmma/cut_k_tile.cuh"

// One warp of the block follows the one that copies. In a k-tile in which a group ends, it replaces the next group's
// rows of A and of B by zeros: NaN and infinity times zero would not be zero. Then the stage is full.
__device__ __forceinline__ void clear_group_ends(const GemmArgs& args, const SharedMemory& shared) {
    const int lane = threadIdx.x % 32;
    RingPosition ring;
    unsigned phases = 0;  // a bit for each stage: the parity of its landed barrier
    TileWalk walk(args, shared);
#pragma unroll 1
    for (; walk.has_tile(); walk.next()) {
        const Tile tile = walk.tile();
        const int cut = max(tile.end_k - tile.first_k, 0) / kBlockK;  // the k-tile that may be cut
        RingPosition at = ring;
        at.skip(cut);
        if (is_cut(tile, cut)) {
            const int rows = tile.end_k - tile.first_k - cut * kBlockK;  // of the group
            mbarrier_wait(shared.landed_barrier(at.stage), phases >> at.stage & 1);
            phases ^= 1u << at.stage;
            OperandA::clear_from(shared.stage_a(at.stage), rows, lane);
            OperandB::clear_from(shared.stage_b(at.stage), rows, lane);
            fence_proxy_async();
            __syncwarp();
            if (lane == 0) mbarrier_arrive_expect(shared.full_barrier(at.stage), 0);
        }
        ring.skip(walk.k_tiles);
        GEMM_SKIP_PANELS();
    }
}
