#pragma once
#if GEMM_OVERLAPPED
// How many stages of the ring C takes for either half, behind the k-tiles at hand; none where it is not read, or they don't end
// their tile.
#else
// How many stages of the ring C takes behind the k-tiles at hand; none where it is not read, or they don't end their tile.
#endif
__device__ __forceinline__ int stages_of_c(const GemmArgs& args, const TileWalk& walk) {
    return args.beta == 0.0f || !walk.ends_tile() ? 0 : kStagesC;
}

// Until C's part has arrived, which the ring has come to; then it is past that, too.
__device__ __forceinline__ void wait_for_c(const SharedMemory& shared, RingPosition& ring, int stages) {
#pragma unroll 1
    for (int i = 0; i < stages; ++i) {
        wait_for_k_tile(shared, ring);
        ring.advance();
    }
}

// This warp has read C's part, which begins at that stage.
__device__ __forceinline__ void release_c(const SharedMemory& shared, int stage, int stages, int lane) {
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < stages; ++i) {
        release(shared, stage, lane);
        stage = stage + 1 == kStages ? 0 : stage + 1;
    }
}
