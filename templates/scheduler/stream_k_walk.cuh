#pragma once
#include "scheduler/block_tiles.cuh"

// Deals out the work evenly (stream-K; Osama et al., PPoPP 2023). Most tiles go in whole waves, one tile to each
// cluster. The tiles that fill no wave, and one wave more, are streamed: their k-tiles lie end to end, and each cluster
// takes an equal share. So a share is made of pieces of tiles. The cluster with a tile's last piece adds up the sums of
// all its pieces (partial_sums). A cluster walks its share from the end: the piece that others wait for comes first. It
// waits only for clusters of a lower index, which began earlier.
struct Piece {
    unsigned tile;
    int first_k_tile;
    int ends_tile;  // not a bool: ptxas would spill a predicate that lives as long as a tile
};

struct TileWalk : BlockTiles {
    static constexpr int kLeastPiece = 4;  // k-tiles

    int tile_k_tiles;
    unsigned count, streamed;  // all tiles, and how many of the first are streamed
    int begin, end;  // k-tiles that are left of this cluster's share
    unsigned next_whole;
    Piece piece;  // the current one
    int k_tiles;  // of the current piece; 0 when no piece is left

    __device__ __forceinline__ TileWalk(const GemmArgs& args, const SharedMemory& /*shared*/)
        : BlockTiles(args), count(tiles.m * tiles.n) {
        GEMM_COUNT_K_TILES_OF_TILE();
        const unsigned rest = count % clusters;
        streamed = rest == 0 || tile_k_tiles < 2 * kLeastPiece ? 0 : min(count, rest + clusters);
        begin = share_begin(cluster);
        end = share_begin(cluster + 1);
        next_whole = streamed + cluster;
        next();
    }

    // Where a cluster's share begins. The neighbour takes pieces of less than kLeastPiece k-tiles.
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
    GEMM_PIECE_ENDS_TILE();
    __device__ __forceinline__ Tile tile() const {
        return block_tile(piece.tile, piece.first_k_tile * kBlockK, k_tiles);
    }
};
