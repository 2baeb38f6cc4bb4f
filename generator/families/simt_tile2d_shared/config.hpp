#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// Inner products from shared memory: as simt_tile2d with one element per thread, but the block's panels of A and B,
/// all of K deep, are first copied to shared memory.
struct SimtTile2dSharedConfig {
    TileShape block{8, 32, 0};  ///< block tile of D, m by n: as many threads
    int panel_k = 32;           ///< of K in shared memory at a time; candidates propose all of it
    int grid = 1024;            ///< most blocks; 0: one per block tile

    friend bool operator==(const SimtTile2dSharedConfig&, const SimtTile2dSharedConfig&) = default;
};

}  // namespace jitgemm
