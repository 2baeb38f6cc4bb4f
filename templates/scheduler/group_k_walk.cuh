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

// GEMM_ORDER_OF_PARTS_OF_K();
struct TileWalk : BlockTiles {
    const int &groups, &all_k;
    unsigned table;  // of group_end
    unsigned index;  // of the current tile
    GEMM_K_TILES_OF_GROUP();

    __device__ __forceinline__ TileWalk(const GemmArgs& args, const SharedMemory& shared)
        : BlockTiles(args), groups(args.groups), all_k(args.k), table(shared.group_ends), index(cluster) {
        count_k_tiles();
    }

    __device__ __forceinline__ bool has_tile() const { return index < tiles.m * tiles.n * groups; }
    __device__ __forceinline__ void next() {
        index += clusters;
        count_k_tiles();
    }
    GEMM_ENDS_TILE();
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
        GEMM_COUNT_K_TILES_OF_GROUP();
    }
};
