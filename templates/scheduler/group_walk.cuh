#pragma once
#include "common/rasterization.cuh"
#include "common/tile.cuh"
// ---- groups
GEMM_TILE_EXTENTS();

// Where a group of rows ends.
struct GroupEnd {
    unsigned tiles;  // of D, in this group and those before it
    int row;
};

// Entry 0 of the table is for what lies before the first group.
__device__ __forceinline__ GroupEnd group_end(unsigned table, int entry) {
    GroupEnd end;
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(end.tiles), "=r"(end.row) : "r"(table + entry * 8));
    return end;
}

__device__ __forceinline__ void set_group_end(unsigned table, int entry, GroupEnd end) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(table + entry * 8), "r"(end.tiles), "r"(end.row) : "memory");
}

// One warp makes the table from the offsets, 32 groups at a time. Wrong offsets are moved, so that no memory outside is
// touched: ends do not fall, and lie within M or a group's room.
__device__ __forceinline__ void find_group_ends(const GemmArgs& args, unsigned table) {
    if (threadIdx.x >= 32) return;
    const int lane = threadIdx.x;
    const unsigned tiles_n = (args.n + kTileColumns - 1u) / kTileColumns;
    GroupEnd before{0, 0};
    if (lane == 0) set_group_end(table, 0, before);
    int next_row = lane < args.groups ? args.offsets[lane] : 0;
#pragma unroll 1
    for (int group = lane; group < args.groups + lane; group += 32) {
        int row = max(min(next_row, args.m), before.row);
        const int rows_in_room = max(min(next_row, args.group_rows), 0);
        next_row = group + 32 < args.groups ? args.offsets[group + 32] : 0;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) row = max(row, __shfl_up_sync(0xffffffff, row, distance));
        const int above = __shfl_up_sync(0xffffffff, row, 1);
        int first_row = lane == 0 ? before.row : above;
        if (args.group_rows != 0 && group < args.groups) {
            first_row = group * args.group_rows;
            row = first_row + rows_in_room;
        }
        unsigned tiles = group < args.groups ? (row - first_row + kTileRows - 1u) / kTileRows * tiles_n : 0;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const unsigned of_earlier = __shfl_up_sync(0xffffffff, tiles, distance);
            if (lane >= distance) tiles += of_earlier;
        }
        tiles += before.tiles;
        if (group < args.groups) set_group_end(table, group + 1, {tiles, row});
        before = {__shfl_sync(0xffffffff, tiles, 31), __shfl_sync(0xffffffff, row, 31)};
    }
}

// GEMM_ORDER_OF_GROUPS();
struct TileWalk {
    const int &columns, &groups;
    const int& group_rows;  // that each group has room for
#if GEMM_GATHERED
    const int& end_k;
#endif
    bool no_products;  // K is 0, and there are no maps of A and B
    GEMM_K_TILES();
    unsigned table;  // of group_end: shared memory holds what registers have no room for
    unsigned index;  // of the current tile
    int group = 0;  // of the current tile

    __device__ __forceinline__ TileWalk(const GemmArgs& args, const SharedMemory& shared)
        : columns(args.n),
          groups(args.groups),
          group_rows(args.group_rows),
#if GEMM_GATHERED
          end_k(args.k),
#endif
          no_products(args.k == 0),
          table(shared.group_ends),
#if GEMM_CLUSTER > 1
          index(blockIdx.x / kCluster) {
#else
          index(blockIdx.x) {
#endif
        GEMM_COUNT_K_TILES();
        find_group();
    }

    __device__ __forceinline__ bool has_tile() const { return index < group_end(table, groups).tiles; }
    __device__ __forceinline__ void next() {
        GEMM_NEXT_TILE();
        find_group();
    }
    GEMM_ENDS_TILE();
    __device__ __forceinline__ Tile tile() const {
        const GroupEnd before = group_end(table, group), end = group_end(table, group + 1);
        const int first_row = group_rows == 0 ? before.row : group * group_rows;
        const TileCoord tiles{(end.row - first_row + kTileRows - 1u) / kTileRows,
                              (columns + kTileColumns - 1u) / kTileColumns};
        const TileCoord at = tile_of_block(index - before.tiles, tiles);
        const int row = first_row + static_cast<int>(at.m * kTileRows), column = at.n * kTileColumns;
        GEMM_TILE_OF_GROUP();
    }

private:
    __device__ __forceinline__ void find_group() {
        if (!has_tile()) return;
#pragma unroll 1
        while (index >= group_end(table, group + 1).tiles) ++group;
    }
};
