#pragma once
#include "copy_operands.cuh"

// Waits until the next stage of the ring has been read, and announces the bytes that the copies will bring.
__device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const RingPosition& ring, int bytes) {
    mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);
    mbarrier_arrive_expect(shared.full_barrier(ring.stage), bytes);
}
