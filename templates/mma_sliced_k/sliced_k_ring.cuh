#pragma once
#include "mma_sliced_k/long_operand.cuh"

// The panels that a warp fetches: for each tile of its block, those of all k-tiles.
struct PanelWalk {
    unsigned tile;
    int k_tile;

    __device__ __forceinline__ void advance(int k_tiles) {
        if (++k_tile < k_tiles) return;
        k_tile = 0;
        tile += gridDim.x;
    }
};

// A panel is kRows of an operand (rows of A, columns of B) by kPanelK in shared memory. Where K is contiguous, a line
// is one of these rows, else one k. TMA permutes the 16-byte chunks of a line by the address bits from 7 on (PTX ISA,
// "Swizzling Modes").
template <int kRows, bool kKMajor>
struct Panel {
    static constexpr int kLineBytes = (kKMajor ? kPanelK : kRows) * kElementBytes;
    static constexpr int kBytes = kRows * kPanelK * kElementBytes;

    // The offset of line `line` of the 8x8 matrix at (row, k), both multiples of 8.
    static __device__ __forceinline__ unsigned place(int row, int k, int line) {
        const int offset =
            kKMajor ? (row + line) * kLineBytes + k * kElementBytes : (k + line) * kLineBytes + row * kElementBytes;
        return offset ^ (offset >> 3 & (kLineBytes - 16));
    }
    // The place `rows` rows and `k` of K further. Across lines these are whole patterns of the swizzle, and within a
    // line they change other bits than `place` has set.
    static __device__ __forceinline__ unsigned moved(unsigned place, int rows, int k) {
        return kKMajor ? (place ^ k * kElementBytes) + rows * kLineBytes
                       : (place ^ rows * kElementBytes) + k * kLineBytes;
    }
    static __device__ __forceinline__ void load(unsigned target, const TensorMap& map, int row, int k, unsigned full) {
        tma_load(target, map, kKMajor ? k : row, kKMajor ? row : k, full);
    }
};
using LongPanel = Panel<kBlockM, kLongKMajor>;
using FewPanel = Panel<kBlockN, kFewKMajor>;
constexpr int kStageBytes = LongPanel::kBytes + FewPanel::kBytes;
constexpr int kRingBytes = kSlices * kStages * kStageBytes;  // of all warps
constexpr int kBarriersAt = kRingBytes + kSlices * kSumsOfAWarp * 4;  // behind sP

// Each warp fetches its own panels: panel `warp` of every k-tile. No other warp waits for its stages or frees them.
struct WarpRing {
    unsigned stages;  // (kStages) a panel of the long operand and a panel of the few
    unsigned full;  // (kStages) barriers: all bytes of the stage have arrived
    int panel;

    __device__ __forceinline__ WarpRing(unsigned shared_memory, int warp)
        : stages(shared_memory + warp * kStages * kStageBytes),
          full(shared_memory + kBarriersAt + warp * kStages * 8),
          panel(warp) {}

    __device__ __forceinline__ unsigned stage(int stage) const { return stages + stage * kStageBytes; }
    __device__ __forceinline__ unsigned full_barrier(int stage) const { return full + stage * 8; }
    __device__ __forceinline__ int k_of(const PanelWalk& at) const { return at.k_tile * kBlockK + panel * kPanelK; }

    __device__ __forceinline__ void init_barriers() const {
        for (int stage = 0; stage < kStages; ++stage) mbarrier_init(full_barrier(stage), 1);
        fence_proxy_async();  // TMA arrives at the barriers
    }

    // One lane copies the long operand's panel, and announces the bytes of both panels. copy_few must follow.
    __device__ __forceinline__ void copy_long(const GemmArgs& args, int to, const PanelWalk& at) const {
        mbarrier_arrive_expect(full_barrier(to), kStageBytes);
        LongPanel::load(stage(to), map_of_long(args), at.tile * kBlockM, k_of(at), full_barrier(to));
    }
    __device__ __forceinline__ void copy_few(const GemmArgs& args, int to, const PanelWalk& at) const {
        FewPanel::load(stage(to) + LongPanel::kBytes, map_of_few(args), 0, k_of(at), full_barrier(to));
    }
};
