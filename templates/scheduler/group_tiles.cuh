#pragma once

// ---- groups

// Tiles of kBlockM rows that the grid has for all groups. Group g, whose rows begin at `row`, has those from
// row / kBlockM + g on: this number needs no sum over the groups before it. If each group has room for the same number
// of rows, each has the same number of tiles. Some tiles have no rows.
__device__ __forceinline__ unsigned row_tiles_of_groups(const GemmArgs& args) {
    return static_cast<unsigned>(args.m / kBlockM) + args.groups;
}

// Where a group's rows begin, by the offsets. Wrong offsets are moved, so that no memory outside is touched.
__device__ __forceinline__ int first_row_of_group(const GemmArgs& args, int group) {
    return group == 0 ? 0 : min(max(args.offsets[group - 1], 0), args.m);
}

// The group that has a tile. Every warp counts the groups that begin at it or before.
__device__ __forceinline__ int group_of_tile(const GemmArgs& args, unsigned row_tile) {
    int groups = 0;
#pragma unroll 4
    for (int first = 0; first < args.groups; first += 32) {
        const int group = first + threadIdx.x % 32;
        const bool begins =
            group < args.groups && static_cast<unsigned>(first_row_of_group(args, group) / kBlockM + group) <= row_tile;
        groups += __popc(__ballot_sync(0xffffffff, begins));
    }
    return groups - 1;
}

// Moves to the group that has a tile. Returns the tile's first row, and sets args.m to the row at which the group ends.
// For a tile without rows, the result is args.m or more.
__device__ __forceinline__ int move_to_group(GemmArgs& args, unsigned row_tile) {
    int group, row, end;
    if (args.group_rows != 0) {
        const unsigned tiles = (args.group_rows + kBlockM - 1u) / kBlockM;
        group = row_tile / tiles;
        if (group >= args.groups) return args.m;
        const int first_row = group * args.group_rows;
        row = first_row + static_cast<int>(row_tile % tiles) * kBlockM;
        end = first_row + min(max(args.offsets[group], 0), args.group_rows);
    } else {
        group = group_of_tile(args, row_tile);
        const int first_row = first_row_of_group(args, group);
        const int tile = static_cast<int>(row_tile) - first_row / kBlockM - group;
        end = min(max(args.offsets[group], first_row), args.m);
        if (tile < 0 || tile > (end - first_row) / kBlockM) return args.m;
        row = first_row + tile * kBlockM;
    }
    args.m = end;
    move_to_problem(args, group);
    return row;
}
