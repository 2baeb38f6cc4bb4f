#include "generator/families/wgmma_warp_specialized/template_statements.hpp"

namespace jitgemm {
namespace {

/// Of templates/scheduler/block_tiles.cuh.
void add_block_tiles(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_WHO_TAKES_TILES",
        {{k.in_cluster,
          "// The tiles of D. A cluster takes kClusterM by kClusterN tiles at once, one for each of its blocks.\n"},
         {true, "// The tiles of D, and the block that takes some of them.\n"}});
    add("GEMM_TILES_OF_CLUSTERS",
        {{k.symmetric, "TileCoord tiles;  // that are computed, counted in tiles of a cluster\n"},
         {true, "TileCoord tiles;  // of D, counted in tiles of a cluster\n"}});
    add("GEMM_COUNT_TILES_OF_CLUSTERS", {{k.symmetric,
                                          "__device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)\n"
                                          "    : rows(args.m),\n"
                                          "      columns(args.n),\n"
                                          "      no_products(args.k == 0),\n"
                                          "      tiles(tiles_of_triangle(args.m)),\n"
                                          "      cluster(blockIdx.x / kCluster),\n"
                                          "      cluster_row(blockIdx.x % kClusterM),\n"
                                          "      cluster_column(blockIdx.x % kCluster / kClusterM) {}\n"},
                                         {true,
                                          "__device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)\n"
                                          "    : rows(args.m),\n"
                                          "      columns(args.n),\n"
                                          "      no_products(args.k == 0),\n"
                                          "      tiles{(args.m + kClusterM * kBlockM - 1u) / (kClusterM * kBlockM),\n"
                                          "            (args.n + kClusterN * kBlockN - 1u) / (kClusterN * kBlockN)},\n"
                                          "      cluster(blockIdx.x / kCluster),\n"
                                          "      cluster_row(blockIdx.x % kClusterM),\n"
                                          "      cluster_column(blockIdx.x % kCluster / kClusterM) {}\n"}});
    add("GEMM_TILE_IN_CLUSTER",
        {{k.batched,
          "return {{rows, columns}, row, column, first_k, k_tiles, cluster_row, cluster_column, problem};\n"},
         {true, "return {{rows, columns}, row, column, first_k, k_tiles, cluster_row, cluster_column};\n"}});
    add("GEMM_TILES_OF_BLOCKS",
        {{k.symmetric, "TileCoord tiles;  // that are computed\n"}, {true, "TileCoord tiles;  // of D\n"}});
    add("GEMM_COUNT_TILES_OF_BLOCKS",
        {{k.symmetric,
          "__device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)\n"
          "    : rows(args.m),\n"
          "      columns(args.n),\n"
          "      no_products(args.k == 0),\n"
          "      tiles(tiles_of_triangle(args.m)),\n"
          "      cluster(blockIdx.x) {}\n"},
         {true,
          "__device__ __forceinline__ explicit BlockTiles(const GemmArgs& args)\n"
          "    : rows(args.m),\n"
          "      columns(args.n),\n"
          "      no_products(args.k == 0),\n"
          "      tiles{(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN},\n"
          "      cluster(blockIdx.x) {}\n"}});
    add("GEMM_TAKE_PROBLEM", {{k.batched,
                               "const int problem = index / (tiles.m * tiles.n);\n"
                               "index %= tiles.m * tiles.n;\n"}});
    add("GEMM_FIND_TILE", {{k.symmetric, "const TileCoord at = tile_of_triangle(tile_of_block(index, tiles), rows);\n"},
                           {true, "const TileCoord at = tile_of_block(index, tiles);\n"}});
    add("GEMM_TILE_OF_BLOCK", {{k.batched, "return {{rows, columns}, row, column, first_k, k_tiles, problem};\n"},
                               {true, "return {{rows, columns}, row, column, first_k, k_tiles};\n"}});
}

/// Of templates/scheduler/group_walk.cuh.
void add_group_walk(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_TILE_EXTENTS", {{k.in_cluster,
                               "constexpr int kTileRows = kClusterM * kBlockM;  // of D, that a cluster takes at once\n"
                               "constexpr int kTileColumns = kClusterN * kBlockN;\n"},
                              {true,
                               "constexpr int kTileRows = kBlockM;  // of D, that a block takes at once\n"
                               "constexpr int kTileColumns = kBlockN;\n"}});
    add("GEMM_ORDER_OF_GROUPS", {{k.in_cluster,
                                  "// Deals out the tiles of D: cluster c takes tiles c, c + clusters, ..., and each "
                                  "of its blocks a part of them. Groups\n"
                                  "// come one after the other, and the tiles of a group in the order of "
                                  "rasterization. A tile's last rows may be those of\n"
                                  "// the next group, which are not stored.\n"},
                                 {true,
                                  "// Deals out the tiles of D: block b takes tiles b, b + blocks, ... Groups come one "
                                  "after the other, and the tiles of a\n"
                                  "// group in the order of rasterization. A tile's last rows may be those of the next "
                                  "group, which are not stored.\n"}});
    add("GEMM_K_TILES", {{k.overlapped, "int k_tiles;  // of each tile, at least two: beyond K they hold zeros\n"},
                         {true, "int k_tiles;  // of each tile, at least one, which holds zeros where K is 0\n"}});
    add("GEMM_COUNT_K_TILES",
        {{k.overlapped, "k_tiles = max(2, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));\n"},
         {true, "k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));\n"}});
    add("GEMM_NEXT_TILE", {{k.in_cluster, "index += gridDim.x / kCluster;\n"}, {true, "index += gridDim.x;\n"}});
    add("GEMM_ENDS_TILE", {{k.has_panels, "__device__ __forceinline__ bool ends_tile() const { return true; }\n"}});
    add("GEMM_TILE_OF_GROUP",
        {{k.in_cluster,
          "const unsigned cluster_row = blockIdx.x % kClusterM, cluster_column = blockIdx.x % kCluster / kClusterM;\n"
          "return {{end.row, columns},\n"
          "        row + static_cast<int>(cluster_row * kBlockM),\n"
          "        column + static_cast<int>(cluster_column * kBlockN),\n"
          "        0,\n"
          "        k_tiles,\n"
          "        cluster_row,\n"
          "        cluster_column,\n"
          "        group};\n"},
         {true, "return {{end.row, columns}, row, column, 0, k_tiles, group};\n"}});
}

/// Of templates/scheduler/group_k_walk.cuh.
void add_group_k_walk(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_ORDER_OF_PARTS_OF_K",
        {{k.in_cluster,
          "// Deals out the tiles of D: cluster c takes tiles c, c + clusters, ... Groups come one after the other, "
          "and the tiles\n"
          "// of a group in the order of rasterization. Each group has all tiles of a D, and a part of K.\n"},
         {true,
          "// Deals out the tiles of D: block b takes tiles b, b + blocks, ... Groups come one after the other, and "
          "the tiles of a\n"
          "// group in the order of rasterization. Each group has all tiles of a D, and a part of K.\n"}});
    add("GEMM_K_TILES_OF_GROUP",
        {{k.overlapped, "int k_tiles;  // of the current tile, at least two: beyond the group they hold zeros\n"},
         {true, "int k_tiles;  // of the current tile, at least one: that of an empty group holds zeros\n"}});
    add("GEMM_COUNT_K_TILES_OF_GROUP", {{k.overlapped, "k_tiles = max(2u, (size + kBlockK - 1u) / kBlockK);\n"},
                                        {true, "k_tiles = max(1u, (size + kBlockK - 1u) / kBlockK);\n"}});
}

/// Of templates/scheduler/tile_walk.cuh.
void add_tile_walk(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_COUNT_PROBLEMS", {{k.batched, "count *= args.batch;  // those of the first problem come first\n"}});
}

/// Of templates/scheduler/stream_k_walk.cuh.
void add_stream_k_walk(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_COUNT_K_TILES_OF_TILE",
        {{k.overlapped,
          "// At least two: beyond K they hold zeros.\n"
          "tile_k_tiles = max(2, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));\n"},
         {true,
          "// At least one, which holds zeros where K is 0.\n"
          "tile_k_tiles = max(1, static_cast<int>((args.k + (kBlockK - 1ll)) / kBlockK));\n"}});
    add("GEMM_PIECE_ENDS_TILE",
        {{k.has_panels, "__device__ __forceinline__ bool ends_tile() const { return piece.ends_tile; }\n"}});
}

/// Of templates/scheduler/partial_sums.cuh.
void add_partial_sums(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_ADD_TO_SUM",
        {{k.accumulator == DataType::f16,
          "__device__ __forceinline__ unsigned add(unsigned pair, unsigned addend) {\n"
          "    asm(\"add.rn.f16x2 %0, %0, %1;\" : \"+r\"(pair) : \"r\"(addend));\n"
          "    return pair;\n"
          "}\n"},
         {k.accumulator == DataType::s32,
          "__device__ __forceinline__ int add(int sum, int addend) { return sum + addend; }\n"},
         {true, "__device__ __forceinline__ float add(float sum, float addend) { return sum + addend; }\n"}});
    add("GEMM_BLOCK_OF_CLUSTER",
        {{k.in_cluster, "const unsigned block = blockIdx.x - (walk.cluster - cluster) * kCluster;\n"},
         {true, "const unsigned block = cluster;\n"}});
}

/// Of templates/ptx/warpgroup.cuh.
void add_warpgroup(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_NAME_SUMS",
        {{k.accumulator == DataType::f16 || k.accumulator == DataType::s32,
          "for (int r = 0; r < kRegistersC; ++r) asm volatile(\"\" : \"+r\"(rC[i][j][r])::\"memory\");\n"},
         {true, "for (int r = 0; r < kRegistersC; ++r) asm volatile(\"\" : \"+f\"(rC[i][j][r])::\"memory\");\n"}});
}

}  // namespace

void add_walk_statements(RenderInput& input, const KernelTraits& k) {
    const AddStatement add(input);
    add_block_tiles(add, k);
    add_group_walk(add, k);
    add_group_k_walk(add, k);
    add_tile_walk(add, k);
    add_stream_k_walk(add, k);
    add_partial_sums(add, k);
    add_warpgroup(add, k);
}

}  // namespace jitgemm
