#pragma once
#include "scheduler/block_tiles.cuh"
// The work, dealt out evenly (stream-K; Osama et al., PPoPP 2023). Whole waves of tiles are taken as they are, a tile by a cluster.
// Of the tiles that no whole number of waves holds, and of one wave more, the k-tiles lie end to end, and each cluster takes an
// equal share of these: pieces of tiles. Sums of a tile that several clusters have pieces of meet in its last piece
// (partial_sums). A share is taken from its end on, so that the piece others wait for comes first; and clusters wait for those
// before them alone, which began earlier.
struct Piece {
    unsigned tile;
    int first_k_tile;
    int ends_tile;  // not a bool: one that lives as long as a tile is a predicate that ptxas spills
};

struct TileWalk : BlockTiles {
    static constexpr int kLeastPiece = 4;  // k-tiles

    int tile_k_tiles;
    unsigned count, streamed;  // tiles, of which the first ones are streamed
    int begin, end;  // what is left of this cluster's share of their k-tiles
    unsigned next_whole;
    Piece piece;  // the current one
    int k_tiles;  // of it; none: there is no piece left

    __device__ __forceinline__ explicit TileWalk(const GemmArgs& args) : BlockTiles(args), count(tiles.m * tiles.n) {
#if GEMM_OVERLAPPED
        // Two at least: what lies beyond K is zeros.
        tile_k_tiles = max(2, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#else
        // Where there is no K, one of zeros.
        tile_k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));
#endif
        const unsigned rest = count % clusters;
        streamed = rest == 0 || tile_k_tiles < 2 * kLeastPiece ? 0 : min(count, rest + clusters);
        begin = share_begin(cluster);
        end = share_begin(cluster + 1);
        next_whole = streamed + cluster;
        next();
    }

    // Where a cluster's share begins; pieces of a few k-tiles are left to the neighbour.
    __device__ __forceinline__ int share_begin(unsigned of_cluster) const {
        const unsigned all = streamed * tile_k_tiles;
        // all * of_cluster / clusters, in 32 bits
        const int cut = all / clusters * of_cluster + all % clusters * of_cluster / clusters;
        const int in_tile = cut % tile_k_tiles;
        if (in_tile < kLeastPiece) return cut - in_tile;
        return tile_k_tiles - in_tile < kLeastPiece ? cut - in_tile + tile_k_tiles : cut;
    }

    __device__ __forceinline__ bool has_tile() const { return k_tiles != 0; }
    __device__ __forceinline__ void next() {
        if (begin < end) {
            piece.tile = (end - 1) / tile_k_tiles;
            const int tile_begin = piece.tile * tile_k_tiles;
            piece.first_k_tile = max(begin - tile_begin, 0);
            piece.ends_tile = end == tile_begin + tile_k_tiles;
            k_tiles = end - tile_begin - piece.first_k_tile;
            end -= k_tiles;
        } else {
            piece = {next_whole, 0, true};
            k_tiles = next_whole < count ? tile_k_tiles : 0;
            next_whole += clusters;
        }
    }
#if GEMM_C_TMA
    __device__ __forceinline__ bool ends_tile() const { return piece.ends_tile; }
#endif
    __device__ __forceinline__ Tile tile() const {
        return block_tile(piece.tile, piece.first_k_tile * kBlockK, k_tiles);
    }
};
