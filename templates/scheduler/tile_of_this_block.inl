// clang-format off
    // Which tile of D, and which part of K: [first_k, end_k).
#if GEMM_GROUPED
    const TileCoord tiles = {row_tiles_of_groups(args), (args.n + kBlockN - 1u) / kBlockN};
#else
    const TileCoord tiles = {(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN};
#endif
#if GEMM_SPLIT_K > 1
#if GEMM_SPLIT_CLUSTER
    const int split = blockIdx.x % kSplitK;  // rank in the cluster, whose blocks share the tile
    const TileCoord at = tile_of_block(blockIdx.x / kSplitK, tiles);
#else
    const int split = blockIdx.x / (tiles.m * tiles.n);
    const TileCoord at = tile_of_block(blockIdx.x % (tiles.m * tiles.n), tiles);
#endif
    const long long k_share = (args.k + (kSplitK * kBlockK - 1ll)) / (kSplitK * kBlockK) * kBlockK;  // in whole k-tiles
    const int first_k = min(split * k_share, static_cast<long long>(args.k));
    const int end_k = min((split + 1) * k_share, static_cast<long long>(args.k));
    const int k_tiles = (end_k - first_k + (kBlockK - 1ll)) / kBlockK;
#elif GEMM_WAVE
    const RemainderTile share = tile_share(blockIdx.x, tiles.m * tiles.n, (args.k + (kBlockK - 1ll)) / kBlockK);
    const TileCoord at = tile_of_block(share.tile, tiles);
    const int first_k = share.is_partial ? share.cut : 0;
    const int end_k = share.is_partial || !share.is_remainder ? args.k : min(share.cut, args.k);
    const int k_tiles = (end_k - first_k + (kBlockK - 1ll)) / kBlockK;
#else
    const TileCoord at = tile_of_block(blockIdx.x, tiles);
#if GEMM_GROUPED_BY_K
    const int first_k = first_k_of_group(args);
    const int end_k = end_k_of_group(args, first_k);
    const int k_tiles = (end_k - first_k + (kBlockK - 1ll)) / kBlockK;
#else
    const int first_k = 0;
    const int end_k = args.k;
    const int k_tiles = (args.k + (kBlockK - 1ll)) / kBlockK;
#endif
#endif
#if GEMM_GROUPED
    const int tile_row = move_to_group(args, at.m);
    if (tile_row >= args.m) return;
#else
    const int tile_row = static_cast<int>(at.m) * kBlockM;
#endif
    const int tile_column = static_cast<int>(at.n) * kBlockN;
    const Tile tile{{args.m, args.n}, tile_row, tile_column, first_k, end_k, k_tiles};
