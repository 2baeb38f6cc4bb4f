#pragma once
#include "operands.inl"

// The address field of a matrix descriptor: 14 bits, in units of 16 bytes. The mask drops the bits that name a block of
// a cluster.
__device__ __forceinline__ unsigned descriptor_address(unsigned shared_address) {
    return (shared_address & 0x3ffff) >> 4;
}

constexpr int kStageBytes = OperandA::kBytes + OperandB::kBytes;
#if GEMM_GATHERED
constexpr int kGatherWarps = 2;  // that copy A
#endif

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

#if GEMM_BLOCK_SCALES
// The ring's stages, and behind them the scales of each.
constexpr int kRingBytes = kStages * kStageBytes + (kStages * kScaleBytes + 1023) / 1024 * 1024;
#endif

#if GEMM_GATHERED
// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's staging; two
// barriers for each stage; addresses of the rows of A; where groups end.
#elif GEMM_GROUPED
// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's staging; two
// barriers for each stage; where groups end.
#elif GEMM_GROUPED_BY_K
// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's staging; three
// barriers for each stage; where groups end.
#else
// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's staging; two
// barriers for each stage.
#endif
struct SharedMemory {
    unsigned ring;
    unsigned staging;
    unsigned full;  // (kStages) all bytes of the stage have arrived
    unsigned empty;  // (kStages) all warps that read the stage have done so
#if GEMM_GATHERED
    unsigned sources;  // (kBlockM) the address of the row of A for each row of a tile
#endif
#if GEMM_GROUPED
    unsigned group_ends;  // a table of GroupEnd
#elif GEMM_GROUPED_BY_K
    unsigned landed;  // (kStages) all bytes of a stage in which a group ends have arrived; it is not full yet
    unsigned group_ends;  // a table of group_end
#endif

    __device__ __forceinline__ explicit SharedMemory(unsigned first) : ring(first) {
#if GEMM_BLOCK_SCALES
        staging = ring + kRingBytes;
#else
        staging = ring + kStages * kStageBytes;
#endif
        full = staging + kStagingBytes;
        empty = full + kStages * 8;
#if GEMM_GATHERED
        sources = empty + kStages * 8;
        group_ends = sources + kBlockM * 8;
#elif GEMM_GROUPED
        group_ends = empty + kStages * 8;
#elif GEMM_GROUPED_BY_K
        landed = empty + kStages * 8;
        group_ends = landed + kStages * 8;
#endif
    }

    __device__ __forceinline__ unsigned stage_a(int stage) const { return ring + stage * kStageBytes; }
    __device__ __forceinline__ unsigned stage_b(int stage) const { return stage_a(stage) + OperandA::kBytes; }
#if GEMM_BLOCK_SCALES
    __device__ __forceinline__ unsigned scales_of(int stage) const {
        return ring + kStages * kStageBytes + stage * kScaleBytes;
    }
#endif
    __device__ __forceinline__ unsigned full_barrier(int stage) const { return full + stage * 8; }
    __device__ __forceinline__ unsigned empty_barrier(int stage) const { return empty + stage * 8; }
#if GEMM_GROUPED_BY_K
    __device__ __forceinline__ unsigned landed_barrier(int stage) const { return landed + stage * 8; }
#endif

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
#if GEMM_BLOCK_SCALES && !GEMM_SCALES_BY_THREADS
        for (unsigned byte = 0; byte < kRingBytes; byte += 16)
#else
        for (unsigned byte = 0; byte < kStages * kStageBytes; byte += 16)
#endif
            asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(ring + byte), "r"(0) : "memory");
        fence_proxy_async();
    }
#endif

    __device__ __forceinline__ void init_barriers() const {
        for (int stage = 0; stage < kStages; ++stage) {
#if GEMM_GATHERED && GEMM_SCALES_BY_THREADS
            mbarrier_init(full_barrier(stage), 2 + kGatherWarps);  // who copies B, A and scales
#elif GEMM_GATHERED
            mbarrier_init(full_barrier(stage), 1 + kGatherWarps);  // who copies B, and who copies A
#elif GEMM_SCALES_BY_THREADS
            mbarrier_init(full_barrier(stage), 2);  // who copies A and B, and who copies scales
#else
            mbarrier_init(full_barrier(stage), 1);
#endif
            mbarrier_init(empty_barrier(stage), kReaders);
#if GEMM_GROUPED_BY_K
            mbarrier_init(landed_barrier(stage), 1);
#endif
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        fence_proxy_async();  // TMA arrives at the barriers, too
    }
};
