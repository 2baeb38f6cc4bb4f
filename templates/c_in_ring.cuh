#pragma once
// How many stages of the ring C takes behind the k-tiles at hand; none where it is not read, or they don't end their tile.
__device__ __forceinline__ int stages_of_c(const GemmArgs& args, const TileWalk& walk) {
    return args.beta == 0.0f || !walk.ends_tile() ? 0 : kStagesC;
}

// Until C's part of the tile has arrived, which the ring has come to; then it is past that, too.
__device__ __forceinline__ void wait_for_c(const SharedMemory& shared, RingPosition& ring, int stages) {
#pragma unroll 1
    for (int i = 0; i < stages; ++i) {
        wait_for_k_tile(shared, ring);
        ring.advance();
    }
}

// This warp has read C's part of a tile, which begins at that stage.
__device__ __forceinline__ void release_c(const SharedMemory& shared, int stage, int stages, int lane) {
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < stages; ++i) {
        release(shared, stage, lane);
        stage = stage + 1 == kStages ? 0 : stage + 1;
    }
}
