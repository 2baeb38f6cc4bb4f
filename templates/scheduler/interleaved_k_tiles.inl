// clang-format off
    // Which tile of D, and which k-tiles: every kSplitK-th, so that all blocks together walk along the rows.
    const unsigned tiles_n = (args.n + (kBlockN - 1u)) / kBlockN;
    const unsigned tiles = (args.m + (kBlockM - 1u)) / kBlockM * tiles_n;
    const unsigned index = blockIdx.x % tiles;
    const int split = blockIdx.x / tiles;
    const int tile_row = index / tiles_n * kBlockM;
    const int tile_column = index % tiles_n * kBlockN;
    const int all_k_tiles = (args.k + (kBlockK - 1ll)) / kBlockK;
    const int k_tiles = (all_k_tiles - split + (kSplitK - 1ll)) / kSplitK;
    const Tile tile{{args.m, args.n}, tile_row, tile_column, split * kBlockK, args.k, k_tiles};
