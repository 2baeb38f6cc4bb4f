    // Which tile of D, and which part of K: [first_k, end_k).
    const unsigned tiles_m = (args.m + kBlockM - 1u) / kBlockM;
    const unsigned tiles_n = (args.n + kBlockN - 1u) / kBlockN;
#if GEMM_SPLIT_K > 1
#if GEMM_SPLIT_CLUSTER
    const int split         = blockIdx.x % kSplitK;             // rank in the cluster, which shares a tile
    const TileCoord tile    = tile_of_block(blockIdx.x / kSplitK, tiles_m, tiles_n);
#else
    const unsigned tiles    = tiles_m * tiles_n;
    const int split         = blockIdx.x / tiles;
    const TileCoord tile    = tile_of_block(blockIdx.x % tiles, tiles_m, tiles_n);
#endif
    const long long k_share = (args.k + (kSplitK * kBlockK - 1ll)) / (kSplitK * kBlockK) * kBlockK;     // of K, in whole k-tiles
    const int first_k       = min(split * k_share, static_cast<long long>(args.k));
    const int end_k         = min((split + 1) * k_share, static_cast<long long>(args.k));
#elif GEMM_WAVE
    const CutTile share  = tile_share(blockIdx.x, tiles_m * tiles_n, (args.k + (kBlockK - 1ll)) / kBlockK);
    const TileCoord tile = tile_of_block(share.tile, tiles_m, tiles_n);
    const int first_k    = share.is_rest ? share.cut : 0;
    const int end_k      = share.is_rest || !share.is_cut ? args.k : min(share.cut, args.k);
#else
    const TileCoord tile = tile_of_block(blockIdx.x, tiles_m, tiles_n);
    const int first_k    = 0;
    const int end_k      = args.k;
#endif
    const int k_tiles     = (end_k - first_k + (kBlockK - 1ll)) / kBlockK;
    const int tile_row    = tile.m * kBlockM;
    const int tile_column = tile.n * kBlockN;
