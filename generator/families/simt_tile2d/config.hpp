#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// 2-D loop tiling: blocks take the block tiles of D in a grid-stride loop, and threads compute a tile each in
/// registers. Both factors come from global memory.
struct SimtTile2dConfig {
    TileShape block{32, 128, 0};  ///< block tile of D, m by n
    TileShape tile{4, 4, 0};      ///< thread tile, m by n
    int grid = 1024;              ///< most blocks; 0: one per block tile

    friend bool operator==(const SimtTile2dConfig&, const SimtTile2dConfig&) = default;
};

}  // namespace jitgemm
