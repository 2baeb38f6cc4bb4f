#pragma once
#if GEMM_CLUSTER > 1

// Copies A's part of a k-tile, or B's. The full barrier of the stage counts their bytes.
__device__ __forceinline__ void copy_a(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, int k_tile,
                                       int stage) {
    const int k = tile.first_k + k_tile * kBlockK;
    // Blocks of one row of the cluster want the same rows of A. Each has a bit.
    const unsigned short row_of_blocks = kRowOfBlocks << tile.cluster_row;
    OperandA::load(shared.stage_a(stage), args.map_a, tile.row, k, shared.full_barrier(stage), tile.cluster_column,
                   row_of_blocks);
}

__device__ __forceinline__ void copy_b(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, int k_tile,
                                       int stage) {
    const int k = tile.first_k + k_tile * kBlockK;
    const unsigned short column_of_blocks = kColumnOfBlocks << tile.cluster_column * kClusterM;
    OperandB::load(shared.stage_b(stage), args.map_b, tile.column, k, shared.full_barrier(stage), tile.cluster_row,
                   column_of_blocks);
}
#else

// Copies A's part of a k-tile, or B's. The full barrier of the stage counts their bytes.
__device__ __forceinline__ void copy_a(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, int k_tile,
                                       int stage) {
    const int k = tile.first_k + k_tile * kBlockK;
    OperandA::load(shared.stage_a(stage), args.map_a, tile.row, k, shared.full_barrier(stage));
}

__device__ __forceinline__ void copy_b(const GemmArgs& args, const SharedMemory& shared, const Tile& tile, int k_tile,
                                       int stage) {
    const int k = tile.first_k + k_tile * kBlockK;
    OperandB::load(shared.stage_b(stage), args.map_b, tile.column, k, shared.full_barrier(stage));
}
#endif
