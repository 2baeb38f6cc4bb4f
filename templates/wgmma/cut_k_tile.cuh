#pragma once

// Whether the tile's group ends within a k-tile, so that TMA brings rows of the next group, too.
__device__ __forceinline__ bool is_cut(const Tile& tile, int k_tile) {
    const int left = tile.end_k - tile.first_k - k_tile * kBlockK;
    return left > 0 && left < kBlockK && tile.end_k < tile.behind_k;
}
