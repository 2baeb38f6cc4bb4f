#pragma once
#include "scheduler/block_tiles.cuh"
// ---- groups

// Where a group ends along K. Entry 0 of the table is for what lies before the first group.
__device__ __forceinline__ int group_end(unsigned table, int entry) {
    int end;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(end) : "r"(table + entry * 4));
    return end;
}

// All threads make the table from the offsets. Wrong offsets are moved, so that no memory outside is touched.
__device__ __forceinline__ void find_group_ends(const GemmArgs& args, unsigned table) {
#pragma unroll 1
    for (int entry = threadIdx.x; entry <= args.groups; entry += kThreads) {
        const int end = entry == 0 ? 0 : min(max(args.offsets[entry - 1], 0), args.k);
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(table + entry * 4), "r"(end) : "memory");
    }
}

#if GEMM_CLUSTER > 1
// Deals out the tiles of D: cluster c takes tiles c, c + clusters, ... Groups come one after the other, and the tiles
// of a group in the order of rasterization. Each group has all tiles of a D, and a part of K.
#else
// Deals out the tiles of D: block b takes tiles b, b + blocks, ... Groups come one after the other, and the tiles of a
// group in the order of rasterization. Each group has all tiles of a D, and a part of K.
#endif
struct TileWalk : BlockTiles {
    const int &groups, &all_k;
    unsigned table;  // of group_end
    unsigned index;  // of the current tile
#if GEMM_OVERLAPPED
    int k_tiles;  // of the current tile, at least two: beyond the group they hold zeros
#else
    int k_tiles;  // of the current tile, at least one: that of an empty group holds zeros
#endif

    __device__ __forceinline__ TileWalk(const GemmArgs& args, const SharedMemory& shared)
        : BlockTiles(args), groups(args.groups), all_k(args.k), table(shared.group_ends), index(cluster) {
        count_k_tiles();
    }

    __device__ __forceinline__ bool has_tile() const { return index < tiles.m * tiles.n * groups; }
    __device__ __forceinline__ void next() {
        index += clusters;
        count_k_tiles();
    }
#if GEMM_TILE_PANELS
    __device__ __forceinline__ bool ends_tile() const { return true; }
#endif
    __device__ __forceinline__ Tile tile() const {
        Tile tile = block_tile(index, group_end(table, group()), k_tiles);
        tile.end_k = group_end(table, group() + 1);
        tile.behind_k = all_k;
        return tile;
    }

private:
    // Of the current tile. Without a branch: ptxas would serialise the wgmmas of overlapped consumers (C7514).
    __device__ __forceinline__ int group() const { return min(index / (tiles.m * tiles.n), groups - 1u); }
    __device__ __forceinline__ void count_k_tiles() {
        const int size = max(group_end(table, group() + 1) - group_end(table, group()), 0);
#if GEMM_OVERLAPPED
        k_tiles = max(2u, (size + kBlockK - 1u) / kBlockK);
#else
        k_tiles = max(1u, (size + kBlockK - 1u) / kBlockK);
#endif
    }
};
