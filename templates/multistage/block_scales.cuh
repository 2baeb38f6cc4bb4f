#pragma once

// Scales of blocks of K: one of A for each row, or for 128 rows, and one of B for each column, or for 128 columns. Each
// is for 128 of K. A warp loads those of its tile while tensor cores add up the block's products.
struct BlockScales {
    GEMM_SCALE_MEMBERS();
};

// Loads the scales of the block of K that `k` lies in, for the warp tile at (row, column) of D.
__device__ __forceinline__ BlockScales load_block_scales(const GemmArgs& args, const Tile& tile, int row, int column,
                                                         int k, int lane) {
    const int k_block = min(k, tile.end_k - 1) / 128;
    BlockScales scales;
    GEMM_LOAD_SCALES();
    return scales;
}

__device__ __forceinline__ void add_scaled_sums(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                                const Accumulator (&partial)[kTilesM][kTilesN][kRegistersC],
                                                const BlockScales& scales) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
#pragma unroll
            for (int r = 0; r < kRegistersC; ++r) {
                GEMM_SCALE_OF_SUM();
                rC[i][j][r] += partial[i][j][r] * scale;
            }
}
