#pragma once

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
