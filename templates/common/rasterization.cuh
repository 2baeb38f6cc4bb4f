#pragma once

// The order in which blocks take the tiles of D. Blocks that run at once should share rows of A and columns of B in L2.
struct TileCoord {
    unsigned m, n;
};

// The tile of a block, where D has `tiles` tiles.
__device__ __forceinline__ TileCoord tile_of_block(unsigned block, TileCoord tiles) {
#if GEMM_RASTERIZATION == 0
    // Along rows: n first.
    return {block / tiles.n, block % tiles.n};
#elif GEMM_RASTERIZATION == 1
    // Along columns: m first.
    return {block % tiles.m, block / tiles.m};
#elif GEMM_RASTERIZATION == 3
    // Groups of kGroup columns of tiles, walked from top to bottom, n first within a group.
    const unsigned group = block / (kGroup * tiles.m);
    const unsigned inside = block % (kGroup * tiles.m);
    const unsigned columns = min(static_cast<unsigned>(kGroup), tiles.n - group * kGroup);
    return {inside / columns, group * kGroup + inside % columns};
#else
    // Groups of kGroup rows of tiles, walked from left to right, m first within a group.
    const unsigned group = block / (kGroup * tiles.n);
    const unsigned inside = block % (kGroup * tiles.n);
    const unsigned rows = min(static_cast<unsigned>(kGroup), tiles.m - group * kGroup);
#if GEMM_RASTERIZATION == 4
    unsigned column = inside / rows;
    if (group % 2 == 1) column = tiles.n - 1 - column;  // zig-zag: every second group from right to left
    return {group * kGroup + inside % rows, column};
#else
    return {group * kGroup + inside % rows, inside / rows};
#endif
#endif
}
