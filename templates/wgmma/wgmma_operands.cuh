#pragma once
#include "operands.inl"

// The address field of a matrix descriptor: 14 bits, in units of 16 bytes. The mask drops the bits that name a block of
// a cluster.
__device__ __forceinline__ unsigned descriptor_address(unsigned shared_address) {
    return (shared_address & 0x3ffff) >> 4;
}

constexpr int kStageBytes = OperandA::kBytes + OperandB::kBytes;
GEMM_WARPS_THAT_GATHER();

// A position in the ring of stages, and the parity of the current phase of the stage's barriers.
struct RingPosition {
    int stage = 0;
    unsigned phase = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == kStages) {
            stage = 0;
            phase ^= 1;
        }
    }
#if GEMM_PINGPONG || GEMM_GROUPED_BY_K || GEMM_OVERLAPPED && GEMM_TILE_PANELS
    // Skips stages that another warpgroup reads, or that are read later.
    __device__ __forceinline__ void skip(int stages) {
        const int rounds = (stage + stages) / kStages;
        stage += stages - rounds * kStages;
        phase ^= rounds & 1;
    }
#endif
#if GEMM_TILE_PANELS
    // The position `stages` stages before, at most one round.
    __device__ __forceinline__ RingPosition before(int stages) const {
        RingPosition there = *this;
        there.stage -= stages;
        if (there.stage < 0) {
            there.stage += kStages;
            there.phase ^= 1;
        }
        return there;
    }
#endif
};

GEMM_SIZE_OF_RING();

// GEMM_CONTENTS_OF_SHARED_MEMORY();
struct SharedMemory {
    unsigned ring;
    unsigned staging;
    unsigned full;  // (kStages) all bytes of the stage have arrived
    unsigned empty;  // (kStages) all warps that read the stage have done so
    GEMM_MORE_ADDRESSES();

    __device__ __forceinline__ explicit SharedMemory(unsigned first) : ring(first) {
        GEMM_PLACE_STAGING();
        full = staging + kStagingBytes;
        empty = full + kStages * 8;
        GEMM_PLACE_TABLES();
    }

    __device__ __forceinline__ unsigned stage_a(int stage) const { return ring + stage * kStageBytes; }
    __device__ __forceinline__ unsigned stage_b(int stage) const { return stage_a(stage) + OperandA::kBytes; }
    GEMM_SCALES_OF_STAGE();
    __device__ __forceinline__ unsigned full_barrier(int stage) const { return full + stage * 8; }
    __device__ __forceinline__ unsigned empty_barrier(int stage) const { return empty + stage * 8; }
    GEMM_LANDED_BARRIER();

#if GEMM_TILE_PANELS
    // One thread calls this where K is 0.
    __device__ __forceinline__ void clear_stage(int stage) const {
#pragma unroll 1
        for (unsigned byte = 0; byte < kStageBytes; byte += 16)
            asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(stage_a(stage) + byte), "r"(0) : "memory");
        fence_proxy_async();
    }
#else
    // One thread calls this where K is 0.
    __device__ __forceinline__ void clear_ring() const {
#pragma unroll 1
        GEMM_CLEAR_STAGES();
        fence_proxy_async();
    }
#endif

    __device__ __forceinline__ void init_barriers() const {
        for (int stage = 0; stage < kStages; ++stage) {
            GEMM_INIT_FULL_BARRIER();
            mbarrier_init(empty_barrier(stage), kReaders);
            GEMM_INIT_LANDED_BARRIER();
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        fence_proxy_async();  // TMA arrives at the barriers, too
    }
};
