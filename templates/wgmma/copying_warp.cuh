#pragma once

// K-tiles whose copies may be in flight while a warp waits for the next stage. Consumers wait for them, and release a
// stage when they have the next k-tile: there must be fewer than the ring has stages for k-tiles.
GEMM_STAGES_OF_K();
constexpr int kCopiesInFlight = kStagesOfK > 3 ? kStagesOfK - 2 : kStagesOfK > 2 ? 2 : 1;

// A warp that copies by cp.async, and its place in the ring. Copies of the last `in_flight` k-tiles may be under way.
struct CopyingWarp {
    RingPosition next;
    int in_flight = 0;

    __device__ __forceinline__ void wait(const SharedMemory& shared) const {
        mbarrier_wait(shared.empty_barrier(next.stage), next.phase ^ 1);
    }
    // The stage is full when every thread or warp that copies into it has arrived.
    __device__ __forceinline__ void fill(const SharedMemory& shared, int stage) const {
        __syncwarp();
        if (threadIdx.x % 32 == 0) mbarrier_arrive_expect(shared.full_barrier(stage), 0);
    }
    // Waits for the copies of the first k-tile in flight.
    template <int kPending>
    __device__ __forceinline__ void land(const SharedMemory& shared) {
        asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
        fence_proxy_async();
        fill(shared, next.stage < in_flight ? next.stage - in_flight + kStages : next.stage - in_flight);
        --in_flight;
    }
    __device__ __forceinline__ void land_all(const SharedMemory& shared) {
#pragma unroll 1
        while (in_flight > 0) land<0>(shared);
    }
#if GEMM_TILE_PANELS
    // Passes stages that hold panels.
    __device__ __forceinline__ void pass(const SharedMemory& shared, int stages) {
        land_all(shared);
#pragma unroll 1
        for (; stages > 0; --stages) {
            wait(shared);
            fill(shared, next.stage);
            next.advance();
        }
    }
#endif
};
