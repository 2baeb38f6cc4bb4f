#pragma once
#include "wgmma/copy_operands.cuh"
#include "wgmma/copying_warp.cuh"

// Two warps of the block copy A, half of a tile's rows each. They walk over the tiles and the ring as the thread does
// that copies B. TMA would need a box for each row, and 13 cycles for each box. So threads copy 16 bytes at a time.
constexpr int kRowsOfWarp = kBlockM / kGatherWarps;
constexpr int kChunkElements = kPanelElements / 8;  // in 16 bytes
// Copies 16 bytes, global to shared memory. It reads the first `bytes`, and zeros the rest.
__device__ __forceinline__ void copy_chunk(unsigned target, unsigned long long source, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
}

// The addresses of two rows of A; 0: it is a row of zeros.
struct Sources {
    unsigned long long row[2];
};
__device__ __forceinline__ Sources sources_at(unsigned address) {
    Sources sources;
    asm volatile("ld.shared.v2.b64 {%0, %1}, [%2];"
                 : "=l"(sources.row[0]), "=l"(sources.row[1])
                 : "r"(address)
                 : "memory");
    return sources;
}

// Copies a warp's rows of a k-tile, from `first` on. Eight lanes copy a row of a panel at once, and two rows in turn.
// TMA would permute the chunks of a row so, too (PTX ISA, "Swizzling Modes").
__device__ __forceinline__ void copy_rows(const SharedMemory& shared, const TileWalk& walk, int stage, int first,
                                          int k) {
    constexpr int kElementBytes = 16 / kChunkElements;
    const int row = threadIdx.x % 32 / 8 * 2, chunk = threadIdx.x % 8;
    first += row;
    const unsigned target = shared.stage_a(stage) + first * kPanelBytes + (chunk ^ row) * 16;
#pragma unroll
    for (int panel = 0; panel < OperandA::kPanels; ++panel) {
        const int column = k + panel * kPanelElements + chunk * kChunkElements;
        const int bytes = max(min(walk.end_k - column, kChunkElements), 0) * kElementBytes;
#pragma unroll
        for (int i = 0; i < kRowsOfWarp; i += 8) {
            const Sources sources = sources_at(shared.sources + (first + i) * 8);
#pragma unroll
            for (int j = 0; j < 2; ++j)
                copy_chunk((target ^ j * 16) + (panel * kBlockM + i + j) * kPanelBytes,
                           sources.row[j] + column * static_cast<long long>(kElementBytes),
                           sources.row[j] == 0 ? 0 : bytes);
        }
    }
}

// Finds the sources of a warp's rows of a tile, from `first` on.
__device__ __forceinline__ void find_sources(const GemmArgs& args, const SharedMemory& shared, const Tile& tile,
                                             int first) {
    __syncwarp();  // all lanes have copied the previous tile's rows
#pragma unroll 1
    for (int row = first + threadIdx.x % 32; row < first + kRowsOfWarp; row += 32) {
        const int source = tile.row + row < tile.end_row ? args.row_index[tile.row + row] : -1;
        const bool is_row = source >= 0 && source < args.source_rows;
        asm volatile("st.shared.b64 [%0], %1;" ::"r"(shared.sources + row * 8),
                     "l"(is_row ? args.a + source * args.lda : nullptr)
                     : "memory");
    }
    __syncwarp();
}

__device__ __forceinline__ void copy_gathered_rows(const GemmArgs& args, const SharedMemory& shared) {
    const int first = threadIdx.x / 32 % kGatherWarps * kRowsOfWarp;  // row of a tile
    CopyingWarp ring;
    TileWalk walk(args, shared);
#pragma unroll 1
    for (; walk.has_tile(); walk.next()) {
        find_sources(args, shared, walk.tile(), first);
#pragma unroll 1
        for (int k_tile = 0; k_tile < walk.k_tiles; ++k_tile) {
            if (ring.in_flight == kCopiesInFlight) ring.land<kCopiesInFlight - 1>(shared);
            ring.wait(shared);
            if (!walk.no_products) copy_rows(shared, walk, ring.next.stage, first, k_tile * kBlockK);
            asm volatile("cp.async.commit_group;" ::: "memory");
            ring.next.advance();
            ++ring.in_flight;
        }
        GEMM_PASS_PANELS();
    }
    ring.land_all(shared);
}
