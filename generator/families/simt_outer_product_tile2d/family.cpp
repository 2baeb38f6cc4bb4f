#include "generator/families/simt_outer_product_tile2d/family.hpp"

#include "generator/families/shared/simt_parameters.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr std::array kThreadsM{4, 8, 16};  // of a block along M
constexpr int kThreadsN = 32;
constexpr int kChunkK = 32;
constexpr std::array kThreadTiles{TileShape{1, 1, 0}, TileShape{2, 2, 0}, TileShape{4, 4, 0}, TileShape{8, 4, 0}};

constexpr std::array kOuterProductTile2dParameters{
    kSimtBlock3d<SimtOuterProductTile2dConfig>,
    kSimtTile<SimtOuterProductTile2dConfig>,
    kSimtGrid<SimtOuterProductTile2dConfig>,
};

}  // namespace

std::span<const ConfigParameter<SimtOuterProductTile2dConfig>> SimtOuterProductTile2d::parameter_table() {
    return kOuterProductTile2dParameters;
}

SimtTiling SimtOuterProductTile2d::tiling(const Config& config) {
    SimtTiling tiling;
    tiling.block = config.block;
    tiling.depth = config.block.k;
    tiling.tile = config.tile;
    tiling.grid = config.grid;
    return tiling;
}

std::vector<SimtOuterProductTile2dConfig> SimtOuterProductTile2d::candidates(const Problem&) {
    std::vector<Config> configs;
    for (const int threads_m : kThreadsM)
        for (const TileShape& tile : kThreadTiles)
            configs.push_back({.block = {threads_m * tile.m, kThreadsN * tile.n, kChunkK}, .tile = tile});
    return configs;
}

}  // namespace jitgemm
