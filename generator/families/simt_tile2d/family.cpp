#include "generator/families/simt_tile2d/family.hpp"

#include "generator/families/shared/simt_parameters.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr std::array kThreads{TileShape{8, 32, 0}, TileShape{16, 16, 0}, TileShape{32, 8, 0}};  // of a block, m by n
constexpr std::array kTileSides{1, 2, 4};

constexpr std::array kTile2dParameters{
    kSimtBlock2d<SimtTile2dConfig>,
    kSimtTile<SimtTile2dConfig>,
    kSimtGrid<SimtTile2dConfig>,
};

}  // namespace

std::span<const ConfigParameter<SimtTile2dConfig>> SimtTile2d::parameter_table() { return kTile2dParameters; }

SimtTiling SimtTile2d::tiling(const Config& config) {
    SimtTiling tiling;
    tiling.block = config.block;
    tiling.tile = config.tile;
    tiling.grid = config.grid;
    return tiling;
}

std::vector<SimtTile2dConfig> SimtTile2d::candidates(const Problem&) {
    std::vector<Config> configs;
    for (const TileShape& threads : kThreads)
        for (const int side : kTileSides)
            configs.push_back({.block = {threads.m * side, threads.n * side, 0}, .tile = {side, side, 0}});
    return configs;
}

}  // namespace jitgemm
