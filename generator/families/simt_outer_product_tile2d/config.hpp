#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// As simt_outer_product, with a grid-stride loop over the block tiles of D and a tile of D per thread. The outer loop
/// is an inner product over the chunks of K; inside, registers form outer products.
struct SimtOuterProductTile2dConfig {
    TileShape block{64, 128, 32};  ///< block tile of D, m by n; k: of a chunk
    TileShape tile{8, 4, 0};       ///< thread tile, m by n
    int grid = 1024;               ///< most blocks; 0: one per block tile

    friend bool operator==(const SimtOuterProductTile2dConfig&, const SimtOuterProductTile2dConfig&) = default;
};

}  // namespace jitgemm
