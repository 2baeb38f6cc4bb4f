#pragma once
#include "wgmma/copying_warp.cuh"

// A warp copies the scales of each k-tile. TMA would need rows aligned to 16 bytes, and would copy 16 bytes of each.
// Like the thread that copies A and B, the warp walks over the tiles and the ring.

// Copies a scale for each of kCount parts of a tile, global to shared memory. A part has kStep rows (or columns) and
// lies within kRows of D, which have one scale. The tile begins at `first`, and D ends at `end`. The addresses of
// kAtOnce copies stay in registers.
template <int kCount, int kStep, int kRows, bool kAlongK, int kAtOnce>
__device__ __forceinline__ void copy_parts(unsigned target, const float* scales, long long pitch, int first, int end,
                                           int k_block, int bytes) {
#pragma unroll kAtOnce
    for (int i = 0; i < kCount; i += 32) {
        const int part = i + threadIdx.x % 32;
        if (kCount % 32 != 0 && part >= kCount) break;
        const int line = min(first + part * kStep, end - 1) / kRows;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target + part * 4),
                     "l"(scales + (kAlongK ? line * pitch + k_block : k_block * pitch + line)), "r"(bytes)
                     : "memory");
    }
}

__device__ __forceinline__ void copy_scales(const GemmArgs& args, const SharedMemory& shared) {
    GEMM_SCALES_BEGIN();
    CopyingWarp ring;
    TileWalk walk(args, shared);
    const int bytes = walk.no_products ? 0 : 4;  // the rest of a copy is zeros
#pragma unroll 1
    for (; walk.has_tile(); walk.next()) {
        const Tile tile = walk.tile();
        GEMM_SCALES_OF_TILE();
#pragma unroll 1
        for (int k_tile = 0; k_tile < tile.k_tiles; ++k_tile) {
            if (ring.in_flight == kCopiesInFlight) ring.land<kCopiesInFlight - 1>(shared);
            ring.wait(shared);
            const unsigned target = shared.scales_of(ring.next.stage);
            const int k_block = tile.first_k / kBlockK + k_tile;
            GEMM_COPY_PARTS();
            asm volatile("cp.async.commit_group;" ::: "memory");
            ring.next.advance();
            ++ring.in_flight;
        }
        GEMM_PASS_PANELS();
    }
    ring.land_all(shared);
}
