#pragma once
#include "common/rasterization.cuh"
// D is symmetric, and tiles below its diagonal are left out. Squares of kSquare rows and columns hold whole tiles. Row
// i of the squares on and above the diagonal, and the i-th row from below, together are as long as any other two such
// rows. Side by side they make a rectangle, and its tiles are walked as those of D are elsewhere.
#if GEMM_CLUSTER > 1
constexpr int kTileRows = kClusterM * kBlockM;  // of D, that a cluster takes at once
constexpr int kTileColumns = kClusterN * kBlockN;
#else
constexpr int kTileRows = kBlockM;  // of D, that a block takes at once
constexpr int kTileColumns = kBlockN;
#endif
constexpr int kSquare = kTileRows > kTileColumns ? kTileRows : kTileColumns;
constexpr unsigned kTilesDown = kSquare / kTileRows;  // of a square
constexpr unsigned kTilesAcross = kSquare / kTileColumns;

__device__ __forceinline__ unsigned squares_of(int rows) { return (rows + (kSquare - 1u)) / kSquare; }

// The tiles of the rectangle.
__device__ __forceinline__ TileCoord tiles_of_triangle(int rows) {
    const unsigned squares = squares_of(rows);
    return {(squares + 1) / 2 * kTilesDown, (squares | 1) * kTilesAcross};
}

// Where a tile of the rectangle lies in D. Its row i begins with the rest that the i-th row from below has.
__device__ __forceinline__ TileCoord tile_of_triangle(TileCoord at, int rows) {
    const unsigned squares = squares_of(rows);
    const unsigned is_even = 1 - squares % 2;
    unsigned i = at.m / kTilesDown, j = at.n / kTilesAcross;
    if (j >= i + is_even) {
        j -= is_even;
    } else {
        i = squares - is_even - i;
        j = squares - 1 - j;
    }
    return {i * kTilesDown + at.m % kTilesDown, j * kTilesAcross + at.n % kTilesAcross};
}
