#pragma once
#if GEMM_GROUPED_BY_K
#include "wgmma/cut_k_tile.cuh"

// Where a k-tile begins along K, and the barrier that counts its bytes.
struct KTile {
    int k;
    unsigned barrier;
};

// One behind the group's end begins at K's end instead, from where TMA brings zeros. One that the group ends is not
// full when its bytes have come.
__device__ __forceinline__ KTile k_tile_at(const SharedMemory& shared, const Tile& tile, int k_tile, int stage) {
    const int k = tile.first_k + k_tile * kBlockK;
    return {k < tile.end_k ? k : tile.behind_k,
            is_cut(tile, k_tile) ? shared.landed_barrier(stage) : shared.full_barrier(stage)};
}

// Copies A's part of a k-tile, or B's.
#if GEMM_CLUSTER > 1
__device__ __forceinline__ void copy_a(const GemmArgs& args, const SharedMemory& shared, const Tile& tile,
                                       const KTile& from, int stage) {
    // Blocks of one row of the cluster want the same rows of A. Each has a bit.
    const unsigned short row_of_blocks = kRowOfBlocks << tile.cluster_row;
    OperandA::load(shared.stage_a(stage), args.map_a, tile.row, from.k, from.barrier, tile.cluster_column,
                   row_of_blocks);
}

__device__ __forceinline__ void copy_b(const GemmArgs& args, const SharedMemory& shared, const Tile& tile,
                                       const KTile& from, int stage) {
    const unsigned short column_of_blocks = kColumnOfBlocks << tile.cluster_column * kClusterM;
    OperandB::load(shared.stage_b(stage), args.map_b, tile.column, from.k, from.barrier, tile.cluster_row,
                   column_of_blocks);
}
#else
__device__ __forceinline__ void copy_a(const GemmArgs& args, const SharedMemory& shared, const Tile& tile,
                                       const KTile& from, int stage) {
    OperandA::load(shared.stage_a(stage), args.map_a, tile.row, from.k, from.barrier);
}

__device__ __forceinline__ void copy_b(const GemmArgs& args, const SharedMemory& shared, const Tile& tile,
                                       const KTile& from, int stage) {
    OperandB::load(shared.stage_b(stage), args.map_b, tile.column, from.k, from.barrier);
}
#endif
#elif GEMM_CLUSTER > 1
GEMM_SHARE_OF_A();
__device__ __forceinline__ void copy_b(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, int k_tile,
                                       int stage) {
    const int k = tile.first_k + k_tile * kBlockK;
    const unsigned short column_of_blocks = kColumnOfBlocks << tile.cluster_column * kClusterM;
    OperandB::load(shared.stage_b(stage), args.map_b, tile.column, k, shared.full_barrier(stage), tile.cluster_row,
                   column_of_blocks);
}
#else
GEMM_COPY_OF_A();
__device__ __forceinline__ void copy_b(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, int k_tile,
                                       int stage) {
    const int k = tile.first_k + k_tile * kBlockK;
    OperandB::load(shared.stage_b(stage), args.map_b, tile.column, k, shared.full_barrier(stage));
}
#endif
