#pragma once
#include "common/rasterization.cuh"
#include "common/tile.cuh"
// ---- groups
#if GEMM_CLUSTER > 1
constexpr int kTileRows = kClusterM * kBlockM;  // of D, that a cluster takes at once
constexpr int kTileColumns = kClusterN * kBlockN;
#else
constexpr int kTileRows = kBlockM;  // of D, that a block takes at once
constexpr int kTileColumns = kBlockN;
#endif

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

#if GEMM_CLUSTER > 1
// Deals out the tiles of D: cluster c takes tiles c, c + clusters, ..., and each of its blocks a part of them. Groups
// come one after the other, and the tiles of a group in the order of rasterization. A tile's last rows may be those of
// the next group, which are not stored.
#else
// Deals out the tiles of D: block b takes tiles b, b + blocks, ... Groups come one after the other, and the tiles of a
// group in the order of rasterization. A tile's last rows may be those of the next group, which are not stored.
#endif
struct TileWalk {
    const int &columns, &groups;
    const int& group_rows;  // that each group has room for
#if GEMM_GATHERED
    const int& end_k;
#endif
    bool no_products;  // K is 0, and there are no maps of A and B
#if GEMM_OVERLAPPED
    int k_tiles;  // of each tile, at least two: beyond K they hold zeros
#else
    int k_tiles;  // of each tile, at least one, which holds zeros where K is 0
#endif
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
#if GEMM_OVERLAPPED
        k_tiles = max(2, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#else
        k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#endif
        find_group();
    }

    __device__ __forceinline__ bool has_tile() const { return index < group_end(table, groups).tiles; }
    __device__ __forceinline__ void next() {
#if GEMM_CLUSTER > 1
        index += gridDim.x / kCluster;
#else
        index += gridDim.x;
#endif
        find_group();
    }
#if GEMM_TILE_PANELS
    __device__ __forceinline__ bool ends_tile() const { return true; }
#endif
    __device__ __forceinline__ Tile tile() const {
        const GroupEnd before = group_end(table, group), end = group_end(table, group + 1);
        const int first_row = group_rows == 0 ? before.row : group * group_rows;
        const TileCoord tiles{(end.row - first_row + kTileRows - 1u) / kTileRows,
                              (columns + kTileColumns - 1u) / kTileColumns};
        const TileCoord at = tile_of_block(index - before.tiles, tiles);
        const int row = first_row + static_cast<int>(at.m * kTileRows), column = at.n * kTileColumns;
#if GEMM_CLUSTER > 1
        const unsigned cluster_row = blockIdx.x % kClusterM, cluster_column = blockIdx.x % kCluster / kClusterM;
        return {{end.row, columns},
                row + static_cast<int>(cluster_row * kBlockM),
                column + static_cast<int>(cluster_column * kBlockN),
                0,
                k_tiles,
                cluster_row,
                cluster_column,
                group};
#else
        return {{end.row, columns}, row, column, 0, k_tiles, group};
#endif
    }

private:
    __device__ __forceinline__ void find_group() {
        if (!has_tile()) return;
#pragma unroll 1
        while (index >= group_end(table, group + 1).tiles) ++group;
    }
};
