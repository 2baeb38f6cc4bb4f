#pragma once
// The ring's stages that C takes for each tile, or half of one, that is stored at a time; 0 where C is not read.
__device__ __forceinline__ int stages_of_c(const GemmArgs& args) { return c_factor(args) == 0.0f ? 0 : kStagesC; }

// Those behind the k-tiles at hand; none where they don't end their tile.
__device__ __forceinline__ int stages_of_c(const GemmArgs& args, const TileWalk& walk) {
    return walk.ends_tile() ? stages_of_c(args) : 0;
}

// Until C's part has arrived, which the ring has come to; then it is past that, too.
__device__ __forceinline__ void wait_for_c(const GemmArgs& args, const SharedMemory& shared, RingPosition& ring) {
#pragma unroll 1
    for (int i = stages_of_c(args); i > 0; --i) {
        wait_for_k_tile(shared, ring);
        ring.advance();
    }
}

#if GEMM_PERSISTENT
// This warp has read C's part, which the ring is past.
__device__ __forceinline__ void release_c(const GemmArgs& args, const SharedMemory& shared, const RingPosition& ring,
                                          int lane) {
    __syncwarp();
    RingPosition of_c = ring.before(stages_of_c(args));
#pragma unroll 1
    for (int i = stages_of_c(args); i > 0; --i) {
        release(shared, of_c.stage, lane);
        of_c.advance();
    }
}
#endif
