#pragma once
// The order in which blocks take the tiles of D. Blocks in flight at once should share rows of A and columns of B in L2.
struct TileCoord {
    int m, n;
};

__device__ __forceinline__ TileCoord tile_of_block(unsigned block, unsigned tiles_m, unsigned tiles_n) {
#if GEMM_RASTERIZATION == 0
    // Along rows: n first.
    return {static_cast<int>(block / tiles_n), static_cast<int>(block % tiles_n)};
#elif GEMM_RASTERIZATION == 1
    // Along columns: m first.
    return {static_cast<int>(block % tiles_m), static_cast<int>(block / tiles_m)};
#elif GEMM_RASTERIZATION == 3
    // Strips of kGroup columns of tiles, walked from top to bottom, n first within a strip.
    const unsigned strip   = block / (kGroup * tiles_m);
    const unsigned inside  = block % (kGroup * tiles_m);
    const unsigned columns = min(static_cast<unsigned>(kGroup), tiles_n - strip * kGroup);
    return {static_cast<int>(inside / columns), static_cast<int>(strip * kGroup + inside % columns)};
#else
    // Strips of kGroup rows of tiles, walked from left to right, m first within a strip.
    const unsigned strip  = block / (kGroup * tiles_n);
    const unsigned inside = block % (kGroup * tiles_n);
    const unsigned rows   = min(static_cast<unsigned>(kGroup), tiles_m - strip * kGroup);
    unsigned column = inside / rows;
#if GEMM_RASTERIZATION == 4
    if (strip % 2 == 1) column = tiles_n - 1 - column;          // zig-zag: every second strip from right to left
#endif
    return {static_cast<int>(strip * kGroup + inside % rows), static_cast<int>(column)};
#endif
}
